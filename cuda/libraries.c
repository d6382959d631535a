// SPDX-License-Identifier: Apache-2.0
// Where programs that have the runtime or the stub of libcuda inside themselves, and record no path of their own, find
// the CPU driver: the lib64/ that the archive lies in. A file of its own, since installing gives it another value.
// Empty in libcudart.so, which finds the driver beside itself.
#ifndef STRATA_LIBRARIES
#define STRATA_LIBRARIES ""
#endif
__attribute__((visibility("hidden"))) extern const char strataLibraries[];
const char strataLibraries[] = STRATA_LIBRARIES;
