#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program whose machine-code cache is missing, damaged, full, or used by others at the same time runs all the same.
#   cache_test.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STRATA_DEVICE=cpu STRATA_LOG=info
unset XDG_CACHE_HOME

fail() {
  echo "cache_test: $*" >&2
  cat "$work/log" >&2
  exit 1
}
# Runs the program with this cache folder; its log must have the second argument, if there is one.
run() {
  STRATA_CACHE_DIR=$1 "$program" >"$work/log" 2>&1 || fail "fails with cache folder $1"
  [[ -z ${2-} ]] || grep -q -e "$2" "$work/log" || fail "no '$2' in the log with cache folder $1"
}

cache=$work/cache
run "$cache"
images=("$cache"/*.image)
((${#images[@]} >= 2)) || fail "nothing was cached"

touch "$work/file"
run "$work/file" "no machine-code cache"
run "$work/file/below" "no machine-code cache"
run /proc/nowhere/at/all "no machine-code cache"
mkdir -m 777 "$work/open"
run "$work/open" "can be written by others"
HOME= STRATA_CACHE_DIR= "$program" >"$work/log" 2>&1 || fail "fails without any folder"

# Each file cut, emptied, with a changed byte, and replaced by a folder.
for image in "${images[@]}"; do
  size=$(stat -c %s "$image")
  for damage in cut empty change; do
    cp "$image" "$work/whole"
    case $damage in
      cut) truncate -s $((size / 2)) "$image" ;;
      empty) truncate -s 0 "$image" ;;
      change) printf 'x' | dd of="$image" bs=1 seek=$((size - 9)) conv=notrunc status=none ;;
    esac
    run "$cache" "is damaged and was removed"
    cmp -s "$image" "$work/whole" || fail "$image was not made anew after: $damage"
  done
  rm "$image" && mkdir "$image"
  run "$cache"
  rmdir "$image"
  run "$cache"
done

# Several processes fill one cache.
processes=()
for i in 1 2 3 4 5 6; do
  STRATA_CACHE_DIR=$work/shared "$program" >"$work/log.$i" 2>&1 &
  processes+=($!)
done
for i in "${!processes[@]}"; do
  wait "${processes[i]}" || { cp "$work/log.$((i + 1))" "$work/log"; fail "fails beside others"; }
done
[[ -z $(find "$work/shared" -name '*.aside') ]] || fail "unfinished files are left"

# A full disk, where this user may mount one.
full='mount -t tmpfs -o size=8k none "$1" && head -c 8192 /dev/zero >"$1/filler"; shift; exec "$@"'
mkdir "$work/disk"
if unshare --user --map-root-user --mount true 2>/dev/null; then
  STRATA_CACHE_DIR=$work/disk/cache unshare --user --map-root-user --mount bash -c "$full" - "$work/disk" "$program" \
    >"$work/log" 2>&1 || fail "fails with a full disk"
  grep -q "cache" "$work/log" || fail "a full disk is not in the log"
fi
# A process that may write no files: a signal would end it.
log=$(ulimit -f 0; STRATA_CACHE_DIR=$work/limited "$program" 2>&1) || { echo "cache_test: ended by its file size limit" >&2; exit 1; }
[[ $log == *"cannot write"* ]] || { echo "cache_test: the limit is not in the log" >&2; exit 1; }
echo PASSED
