#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# host_headers_test.sh BUILD CASE: the toolkit's headers in files that are not CUDA.
#   every   each header compiles alone, and all together by each standard, without a warning, in C++ and C
#   float   headers/host_float.cpp gives the same bits by each compiler as in nvcc's host pass
#   mixed   headers/mixed: C++ and C files of each compiler launch nvcc's kernels
set -eu
build=$1 case=$2
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "$*" >&2 && exit 1; }
# Those of this list that are here; one of them built this tree.
present() { for name; do ! command -v "$name" >/dev/null || echo "$name"; done; }
mapfile -t cxx < <(present g++ clang++-19)
mapfile -t cc < <(present gcc clang-19)
[ ${#cxx[@]} -gt 0 ] && [ ${#cc[@]} -gt 0 ] || fail "no host compiler"

# compile FILE COMPILER WORD…: any output is a failure.
compile() {
  local file=$1
  shift
  "$@" -Wall -Wextra -pedantic -fsyntax-only -I"$build/include" "$file" >"$file.log.$$" 2>&1 && [ ! -s "$file.log.$$" ] && return
  echo "$*, $(sed -n '1,3p' "$file"):" && cat "$file.log.$$" && return 1
}
export -f compile
export build

every() {
  (cd "$build/include" && find . -maxdepth 2 -name '*.h' -o -maxdepth 2 -name '*.hpp' | sed 's|^\./||' | grep -v ^strata/ | sort) >"$out/list"
  [ "$(wc -l <"$out/list")" -gt 50 ] || fail "headers are missing"
  local number=0
  while read -r header; do
    for language in c cpp; do printf '#include <%s>\nextern int used;\n' "$header" >"$out/$number.$language"; done
    number=$((number + 1))
    printf '#include <%s>\n' "$header" | tee -a "$out/all.c" >>"$out/all.cpp"
  done <"$out/list"
  sed '1i extern "C" {' "$out/all.c" | grep -v 'runtime.h\|channel\|functions\|intrinsics\|_rt\|fp\|bf\|mma' >"$out/in_c.cpp"
  grep -q cuda_runtime_api.h "$out/in_c.cpp" || fail "nothing within extern C"
  echo '}' >>"$out/in_c.cpp"
  {
    for file in $(seq 0 $((number - 1))); do
      for compiler in "${cxx[@]}"; do echo "$out/$file.cpp $compiler -std=c++11"; done
      echo "$out/$file.c ${cc[0]} -std=c99"
    done
    for standard in 11 14 17 20; do
      for compiler in "${cxx[@]}"; do echo "$out/all.cpp $compiler -std=c++$standard"; done
    done
    for standard in c99 c11; do
      for compiler in "${cc[@]}"; do echo "$out/all.c $compiler -std=$standard"; done
    done
    echo "$out/in_c.cpp ${cxx[0]} -std=c++17"
  } | xargs -P 2 -L 1 bash -c 'compile "$@"' -
}

float() {
  local seed=$RANDOM digests fma=
  ! grep -qw fma /proc/cpuinfo || fma=-mfma # compilers may then fuse what the headers write apart
  "$build/bin/nvcc" -x cu -std=c++17 -o "$out/nvcc" "$here/headers/host_float.cpp"
  "$out/nvcc" $seed | tee "$out/results"
  for compiler in "${cxx[@]}"; do
    for options in "-std=c++11 -O0" "-std=c++20 -O2 $fma"; do
      $compiler $options -Wall -Wextra -pedantic -Werror -I"$build/include" -o "$out/program" "$here/headers/host_float.cpp"
      "$out/program" $seed | tee -a "$out/results"
    done
  done
  digests=$(sed 's/.*digest //' "$out/results" | sort -u | wc -l)
  [ "$digests" = 1 ] || fail "the results differ"
}

mixed() {
  local strict="-Wall -Wextra -Werror -I$build/include" mixed=$here/headers/mixed
  local libraries="-L$build/lib64 -lcudart -Wl,-rpath,$build/lib64"
  export STRATA_DEVICE=cpu
  cd "$out"
  "$build/bin/nvcc" -c -o whole.o "$mixed/kernels.cu"
  "$build/bin/nvcc" -dc -o part.o "$mixed/kernels.cu"
  "$build/bin/nvcc" -dlink -o linked.o part.o
  "$build/bin/nvcc" -shared -cudart shared -Xcompiler -fPIC -o libkernels.so "$mixed/kernels.cu"
  for i in "${!cxx[@]}"; do
    ${cc[$i]:-${cc[0]}} -std=c99 $strict -c -o c.o "$mixed/main.c"
    ${cxx[$i]} -std=c++11 -DSYMBOLS $strict -o relocatable "$mixed/main.cpp" c.o part.o linked.o $libraries
    ${cxx[$i]} -std=c++17 $strict -o whole "$mixed/main.cpp" c.o whole.o $libraries
    # Here the program, not the library, says where a kernel's function lies.
    ${cc[$i]:-${cc[0]}} -fno-pie -std=c99 $strict -c -o c.o "$mixed/main.c"
    ${cxx[$i]} -no-pie -fno-pie -std=c++20 $strict -o fixed "$mixed/main.cpp" c.o -L. -lkernels -Wl,-rpath,"$out" $libraries
    for program in relocatable whole fixed; do
      timeout 60 "./$program" || fail "${cxx[$i]}: $program"
    done
  done
}

$case
