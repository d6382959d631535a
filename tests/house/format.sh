#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All C++ sources are as clang-format leaves them (.clang-format). usage: format.sh [ROOT]
set -euo pipefail

cd "${1:-$(dirname "$0")/../..}"
tool=$(command -v clang-format-19) || { echo "FAILED: clang-format-19 is not installed" >&2 && exit 1; }
# Other build folders may lie in the tree, too.
prune=(-name '.?*')
for cache in */CMakeCache.txt; do
  if [[ -e $cache ]]; then prune+=(-o -path "./${cache%/*}"); fi
done
mapfile -d '' files < <(find . \( "${prune[@]}" \) -prune -o -type f \( -name '*.cpp' -o -name '*.h' \) -print0)
((${#files[@]})) || { echo "FAILED: no sources" >&2 && exit 1; }
printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 32 "$tool" --dry-run -Werror --ferror-limit=1 ||
  { echo "FAILED: not as clang-format-19 -i leaves them: the files above" >&2 && exit 1; }
echo "${#files[@]} files"
