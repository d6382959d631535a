#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ptxas_test.sh BUILD: bin/ptxas as its callers use it: what it writes loads, and what is wrong is said with its line.
set -eu
build=$1 here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
ptxas=$build/bin/ptxas
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
# must_fail TEXT COMMAND…: fails with status 255 and says TEXT.
must_fail() {
  local text=$1 status=0 said
  shift
  said=$("$@" 2>&1) || status=$?
  [[ $status == 255 ]] || fail "status $status instead of 255: $*"
  [[ $said == *"$text"* ]] || fail "'$text' is missing in: $said"
}

"$ptxas" --version | grep -Eq 'release [0-9]+\.[0-9]+, V[0-9]+\.[0-9]+\.[0-9]+' || fail "no release in --version"

"$build/bin/nvcc" -arch=sm_80 -ptx -o "$out/kernel.ptx" "$here/ptxas/kernel.cu"
"$build/bin/nvcc" -arch=sm_80 -o "$out/load" "$here/ptxas/load.cu" -lcuda
"$ptxas" -v -lineinfo -O3 --fmad=false --gpu-name=sm_90a "$out/kernel.ptx" -o "$out/kernel.cubin" 2> "$out/info"
grep -q "Compiling entry function 'triple' for 'sm_90a'" "$out/info" || fail "-v names no kernel: $(cat "$out/info")"
grep -Eq 'Used [1-9][0-9]* registers, used 0 barriers, 0 bytes smem, 12 bytes cmem\[0\]' "$out/info" || fail "-v: $(cat "$out/info")"
STRATA_DEVICE=cpu "$out/load" "$out/kernel.cubin"

# Text as an argument, options from a file, the default output.
printf -- '-arch sm_90 -o %s\n' "$out/text.cubin" > "$out/options"
"$ptxas" --input-as-string "$(cat "$out/kernel.ptx")" --options-file "$out/options"
STRATA_DEVICE=cpu "$out/load" "$out/text.cubin"
(cd "$out" && "$ptxas" -arch=sm_80 kernel.ptx && cmp -s elf.o <("$ptxas" -arch=sm_80 kernel.ptx -o /dev/stdout))

# A caller that keeps only what was assembled finds nothing after an error.
must_fail "SM version specified by .target (sm_80) does not run on sm_75" "$ptxas" "$out/kernel.ptx" -o "$out/none"
[[ ! -e $out/none ]] || fail "an output in spite of errors"
sed 's/mul\.lo\.s32/mul.low.s32/; s/mul\.f32/mull.f32/' "$out/kernel.ptx" > "$out/bad.ptx"
must_fail "Ptx assembly aborted due to errors" "$ptxas" -arch=sm_80 "$out/bad.ptx" -o "$out/none"
must_fail "$out/bad.ptx, line $(grep -n 'mull\|mul.low' "$out/bad.ptx" | head -n 1 | cut -d: -f1)," "$ptxas" -arch=sm_80 "$out/bad.ptx" -o "$out/none"
printf '.version 7.0\n.target sm_80\n.address_size 64\n.extern .func open();\n.visible .entry k() { call open; ret; }\n' > "$out/open.ptx"
"$ptxas" -c -arch=sm_80 "$out/open.ptx" -o "$out/open.o"
must_fail "Unresolved extern 'open'" "$ptxas" -arch=sm_80 "$out/open.ptx" -o "$out/none"
must_fail "Unknown option '--arc'" "$ptxas" --arc sm_80 "$out/kernel.ptx"
must_fail "Unknown option '-v=1'" "$ptxas" -v=1 "$out/kernel.ptx"
must_fail "argument expected after '-o'" "$ptxas" "$out/kernel.ptx" -o
must_fail "'sm_x' is not defined for option 'gpu-name'" "$ptxas" -arch sm_x "$out/kernel.ptx"
must_fail "No input file specified" "$ptxas" -arch sm_80
must_fail "More than one input file" "$ptxas" a.ptx b.ptx
must_fail "Could not open input file" "$ptxas" "$out/nothing.ptx"
must_fail "Could not write output file" "$ptxas" -arch sm_80 "$out/kernel.ptx" -o "$out/no/folder"
must_fail "only 64-bit" "$ptxas" -m 32 "$out/kernel.ptx"
printf -- '--options-file %s\n' "$out/itself" > "$out/itself"
must_fail "nested too deeply" "$ptxas" --options-file "$out/itself"
echo "ptxas: ok"
