#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares what the benchmarks' kernels compute in lane mode and in vector mode, bit by bit, on each SIMD target that this
# processor has; inputs are fresh. No case adds floats with atomics, whose order is not fixed; approximate functions are the
# same in both modes of a target, and may differ between targets.
#   compare_modes.sh BENCH_OUTPUTS [--small] [--seed S] [--only NAME…]
set -euo pipefail
program=$1
shift
[[ " $* " == *' --seed '* ]] || set -- --seed "$RANDOM$RANDOM" "$@"
export STRATA_DEVICE=cpu
echo "bench_outputs $*"
status=0
targets=(portable)
! grep -qw avx2 /proc/cpuinfo || targets=(avx2 "${targets[@]}")
! grep -qw avx512_vbmi2 /proc/cpuinfo || targets=(avx512 "${targets[@]}")
for simd in "${targets[@]}"; do
  export STRATA_SIMD=$simd
  lane=$(STRATA_MODE=lane "$program" "$@")
  vector=$(STRATA_MODE=vector "$program" "$@")
  [[ -n $lane ]]
  if [[ $lane == "$vector" ]]; then
    echo "$simd: $(cut -d' ' -f1 <<<"$lane" | sort -u | wc -l) cases, all outputs of vector mode equal those of lane mode"
  else
    status=1
    echo "$simd: lane mode < and vector mode > differ"
    diff <(echo "$lane") <(echo "$vector") || true
  fi
done
exit $status
