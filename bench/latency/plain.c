/* SPDX-License-Identifier: Apache-2.0
   What starting any process costs, to compare a CUDA program's start with. */
int main(void) { return 0; }
