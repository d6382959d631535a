// SPDX-License-Identifier: Apache-2.0
// libcudadevrt.a, which build systems link beside libcudart. What NVIDIA keeps in it is, in Strata, PTX calls that
// the driver resolves.
extern const char strataCudadevrt[];
const char strataCudadevrt[] = "Strata: the device runtime is part of the driver";
