#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What belongs to one family of processors stands in simt/target only. usage: target_test.sh SOURCES
set -euo pipefail
cd "$1"
words='_mm|x86_|X86|avx|__rdtsc|REG_RIP|llvm\.x86|Intrinsic::x86|cpuid|xgetbv|mxcsr|__builtin_ia32|__builtin_cpu|intrin\.h|__m(128|256|512)'
find_in() { grep -rnE "$words" "$@" --include='*.cpp' --include='*.h' --include='*.def' --include='*.inc'; }
find_in simt/target >/dev/null || { echo "FAILED: nothing is found where it should be" >&2; exit 1; }
if find_in simt driver runtime | grep -v '^simt/target/'; then
  echo "FAILED: the above belongs into simt/target" >&2
  exit 1
fi
