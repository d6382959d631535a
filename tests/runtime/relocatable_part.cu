// SPDX-License-Identifier: Apache-2.0
__device__ int part = 1;
__device__ int addPart(int value) { return value + part; }
