#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What another user of the machine tries, and what becomes of it. The victim is root, the attacker a user without rights;
# where this is not root, a user namespace makes both. usage: attack_test.sh PREFIX CASE
set -euo pipefail

if [[ $(id -u) != 0 ]]; then
  unshare --user --map-root-user --map-auto true 2>/dev/null ||
    { echo "FAILED: needs two users: root, or user namespaces with subordinate ids (newuidmap)" >&2 && exit 1; }
  exec unshare --user --map-root-user --map-auto "$0" "$@"
fi

prefix=$1
nvcc=$prefix/bin/nvcc
strata=$prefix/bin/strata
# As the system's own: everybody may add to it.
work=$(mktemp -d)
chmod 1777 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
export STRATA_DEVICE=cpu STRATA_CACHE_DIR=$work/victims_cache
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS TMPDIR XDG_CACHE_HOME

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
contains() { grep -qF -- "$2" "$1" || fail "$1 lacks '$2': $(head -c 2000 "$1")"; }
lacks() { if grep -qF -- "$2" "$1"; then fail "$1 has '$2': $(head -c 2000 "$1")"; fi; }
attacker() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
attacker true || fail "no second user"

cat >k.cu <<'EOF2'
#include <cstdio>
__global__ void k(int *p) { *p = 7; }
int main() {
  int *p, h = 0;
  if (cudaMalloc(&p, 4)) return 1;
  k<<<1, 1>>>(p);
  if (cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) || h != 7) return 2;
  puts("victim's own");
  return 0;
}
EOF2

# Names of temporary folders cannot be known; the folders are the victim's alone.
case_temporary_folder() {
  mkdir -m 1777 shared
  # What an attacker could guess: the folder by the number of the process.
  attacker sh -c 'for pid in $(seq '$$' '$(($$ + 400))'); do mkdir -m 777 shared/strata-nvcc-$pid; done'
  touch precious
  attacker sh -c 'for folder in shared/*; do ln -s "$PWD/precious" "$folder/k.sm_75.ptx"; done'
  TMPDIR=$work/shared strace -f -qq -e trace=mkdir,mkdirat -o trace "$nvcc" k.cu -o k
  ./k >out
  contains out "victim's own"
  [[ ! -s precious ]] || fail "written through a link"
  [[ -z $(find shared -mindepth 1 -user 0) ]] || fail "left: $(find shared -user 0)"
  [[ -z $(find shared -type f) ]] || fail "files in the attacker's folders"
  grep -E 'mkdir.*strata-nvcc-[A-Za-z0-9]{6}", 0700\)' trace >/dev/null || fail "no folder of mode 0700: $(cat trace)"
  # A TMPDIR that is the attacker's, or that all may rename in.
  attacker mkdir -m 755 foreign
  mkdir -m 777 open
  local folder
  for folder in foreign open; do
    TMPDIR=$work/$folder "$nvcc" -c k.cu -o k.o 2>out
    contains out "TMPDIR is not used: $work/$folder"
    [[ -z $(ls $folder) ]] || fail "used $folder"
  done
  # Under any umask.
  (umask 002 && "$nvcc" k.cu -o k && ./k) >out || fail "umask 002"
  (umask 0777 && "$nvcc" k.cu -o masked) || fail "umask 0777"
}

# Waits for a file or folder of this pattern.
await() {
  local tries
  for ((tries = 0; tries < 1000; ++tries)); do
    compgen -G "$1" >/dev/null && return
    sleep 0.01
  done
  fail "never there: $1"
}

# Every end of nvcc and of strata takes the children and the files along, and is seen by whoever started it.
case_signals() {
  local signal status left slow=slow_$$.cu
  mkdir -m 1777 temporary
  # A source that keeps the compiler busy for minutes.
  echo 'template <int n> struct S { static constexpr int v = S<n - 1>::v + S<n - 2>::v; }; template <> struct S<0> { static constexpr int v = 0; }; template <> struct S<1> { static constexpr int v = 1; };
constexpr long spin(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i ^ s; return s; }
constexpr long x = spin(1L << 31); __global__ void k() {} int main() {}' >"$slow"
  for command in "$nvcc -Xcompiler -fconstexpr-steps=2147483647 $slow -o never" \
    "$strata run --nvcc=-Xcompiler=-fconstexpr-steps=2147483647 $slow" \
    "$strata inspect --nvcc=-Xcompiler=-fconstexpr-steps=2147483647 $slow" \
    "env -u HOME STRATA_CACHE_DIR= $strata run --nvcc=-Xcompiler=-fconstexpr-steps=2147483647 $slow"; do
    for signal in TERM HUP INT QUIT; do
      [[ $signal == TERM || $command == "$nvcc"* ]] || continue
      # As from a terminal: a background job of a shell ignores SIGINT and SIGQUIT.
      TMPDIR=$work/temporary python3 -c 'import os, signal, sys
for s in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP: signal.signal(s, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' $command >out 2>&1 &
      local pid=$!
      await "temporary/strata-nvcc-*"
      sleep 0.3
      pgrep -f "$slow" | grep -v "^$pid\$" >/dev/null || fail "no compiler runs: $(cat out)"
      kill -$signal $pid
      status=0
      wait $pid || status=$?
      ((status == 128 + $(kill -l $signal))) || fail "$command, SIG$signal: status $status: $(cat out)"
      left=$(pgrep -af "$slow" || true)
      [[ -z $left ]] || fail "$command, SIG$signal: still running: $left"
      [[ -z $(ls temporary) ]] || fail "$command, SIG$signal: left $(ls temporary)"
    done
  done
  # A reader that goes away.
  echo 'error here;' >bad.cu
  { TMPDIR=$work/temporary "$nvcc" -c bad.cu 2>&1 || true; } | true
  [[ -z $(ls temporary) ]] || fail "a closed pipe left $(ls temporary)"
}

# strata run without a home.
case_run() {
  export TMPDIR=$work/temporary
  mkdir -m 1777 temporary
  attacker mkdir -p temporary/strata-0/programs
  attacker chmod -R 777 temporary/strata-0
  env -u HOME STRATA_CACHE_DIR= STRATA_CACHE_SIZE=0 "$strata" run k.cu >out 2>&1 || fail "$(cat out)"
  contains out "victim's own"
  [[ -z $(find temporary -type f) && -z $(find temporary -mindepth 1 -user 0) ]] || fail "left: $(find temporary)"
  # A folder that the attacker has, or can exchange, is not used.
  attacker mkdir -p -m 755 foreign/programs
  if STRATA_CACHE_DIR=$work/foreign "$strata" run k.cu >out 2>&1; then fail "used a foreign folder"; fi
  contains out "no folder for compiled programs: $work/foreign belongs to user 65534"
  if STRATA_CACHE_DIR=$work/foreign/mine/cache "$strata" run k.cu >out 2>&1; then fail "used a foreign folder"; fi
  [[ ! -e foreign/mine ]] || fail "made a folder in the attacker's"
  attacker ln -s "$work/victims_cache" link
  if STRATA_CACHE_DIR=$work/link "$strata" run k.cu >out 2>&1; then fail "followed the attacker's link"; fi
  mkdir own && ln -s "$work/own" own_link
  STRATA_CACHE_DIR=$work/own_link "$strata" run k.cu >out
  (umask 002 && STRATA_CACHE_DIR=$work/umask/deep/cache "$strata" run k.cu >out)
  [[ $(stat -c %a umask umask/deep umask/deep/cache | sort -u) == 700 ]] || fail "modes: $(stat -c '%a %n' umask umask/deep)"
}

# STRATA_DUMP writes through nobody's links.
case_dump() {
  "$nvcc" k.cu -o k
  touch precious
  attacker mkdir -m 777 theirs
  attacker ln -s "$work/precious" theirs/_Z1kPi.ptx
  STRATA_DUMP=$work/theirs ./k >out 2>&1
  contains out "STRATA_DUMP: $work/theirs belongs to user 65534"
  mkdir mine
  ln -s "$work/precious" mine/_Z1kPi.ptx
  STRATA_CACHE_DIR=$work/another STRATA_DUMP=$work/mine ./k >out 2>&1
  contains out "STRATA_DUMP: cannot write $work/mine/_Z1kPi.ptx"
  [[ -s mine/_Z1kPi.s && ! -s precious ]] || fail "not dumped, or written through a link"
}

# A library that tells when it is loaded.
evil() {
  mkdir -p "$(dirname "$1")"
  [[ -e evil.so ]] || { echo '#include <stdio.h>
__attribute__((constructor)) static void load(void) { fclose(fopen("'"$work"'/loaded", "w")); }
int cuInit(unsigned f) { return 0; }' | cc -shared -fPIC -x c - -o evil.so; }
  cp evil.so "$1"
}
unharmed() { [[ ! -e loaded ]] || fail "$* loaded the attacker's library"; }

# The driver comes from beside the runtime, a recorded path or the toolkit, and from trusted hands.
case_planting() {
  local program
  unset STRATA_HOME LD_LIBRARY_PATH
  evil "$work/theirs.so"
  attacker sh -c 'for folder in strata lib64/strata bin/strata gone/lib64/strata; do
      mkdir -p $folder && cp theirs.so $folder/libcuda.so.1
    done
    cp theirs.so lib64/libstrata_codegen.so'
  mkdir programs lib
  "$nvcc" k.cu -o programs/k
  cp programs/k k
  "$nvcc" -c k.cu -o k.o
  c++ k.o "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt -o programs/unrecorded
  # A toolkit that is gone, in whose place the attacker has put one.
  c++ k.o "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt "-Wl,-rpath,$work/gone/lib64" -o programs/gone
  for program in programs/k ./k programs/unrecorded programs/gone; do
    "$program" >out 2>&1 || fail "$program: $(cat out)"
    contains out "victim's own"
    (cd programs && "../$program" >/dev/null)
    unharmed "$program"
  done
  "$nvcc" --cudart shared k.cu -o programs/shared
  cp "$prefix"/lib64/libcudart.so.13 lib
  LD_LIBRARY_PATH=$work/lib programs/shared >out
  unharmed "a program with the shared runtime"
  # Nothing but the attacker's is there: that is said, and nothing is loaded.
  echo 'const char strataLibraries[] __attribute__((visibility("hidden"))) = "'"$work"'/gone/lib64";' | cc -c -x c - -o libraries.o
  c++ k.o libraries.o "$prefix/lib64/libcudart_static.a" -ldl -lpthread -lrt -o programs/lost
  if programs/lost >out 2>&1; then fail "ran without a driver"; fi
  contains out "no CPU driver found (STRATA_HOME names the toolkit that has it):"
  contains out "$work/gone belongs to user 65534"
  unharmed programs/lost
  STRATA_HOME=$prefix programs/lost >out
  # The code generator.
  mkdir -p mine/bin
  cp "$strata" mine/bin
  ln -s "$work/lib64" mine/lib64
  "$nvcc" -ptx k.cu -o k.ptx
  if mine/bin/strata inspect --stage lane k.ptx >out 2>&1; then fail "ran without a code generator"; fi
  contains out "the code generator is not used: $work/lib64 belongs to user 65534"
  unharmed strata
}

# A program that runs with other rights than its caller takes nothing from the environment.
case_set_uid() {
  cp /usr/bin/id id
  chmod 4755 id
  attacker ./id >out
  grep -q 'euid=0' out || fail "set-uid does not work in $work"
  "$nvcc" k.cu -o k
  chmod 4755 k
  evil "$work/home/lib64/strata/libcuda.so.1"
  attacker mkdir -m 777 theirs
  attacker env HOME="$work/theirs/home" XDG_CACHE_HOME="$work/theirs/xdg" STRATA_CACHE_DIR="$work/theirs/cache" \
    STRATA_DUMP="$work/theirs/dump" STRATA_HOME="$work/home" STRATA_LOG=debug STRATA_DEVICE=none STRATA_NONSENSE=1 \
    TMPDIR="$work/theirs" ./k >out 2>&1 || fail "$(cat out)"
  contains out "victim's own"
  lacks out debug
  lacks out STRATA_NONSENSE
  unharmed "a set-uid program"
  [[ -z $(ls theirs) ]] || fail "made $(ls theirs)"
  # The same program, without the rights, listens.
  chmod 755 k
  STRATA_LOG=debug ./k >out 2>&1
  contains out debug
}

# No page of a running program can be both written and executed.
case_mappings() {
  sed 's|puts(.*|FILE *maps = fopen("/proc/self/maps", "r"); char line[512]; while (fgets(line, sizeof line, maps)) fputs(line, stdout);|' \
    k.cu >maps.cu
  "$nvcc" maps.cu -o maps
  ./maps >out # compiles
  contains out libstrata_codegen
  ./maps >>out # from the cache
  grep -qE ' r-xp ' out || fail "no mappings: $(head -n 3 out)"
  if grep -E ' .wx' out; then fail "written and executed"; fi
}

"case_$2"
