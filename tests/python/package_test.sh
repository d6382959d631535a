#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# package_test.sh BUILD: `strata run -- python3`: libraries of Python programs find driver and runtime by name; PyTorch's
# operators are prepared when it is imported; and where a GPU's driver is asked for, nothing of this happens.
set -eu
build=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export STRATA_DEVICE=cpu
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
python() { "$build/bin/strata" run -- python3 "$@"; }

cat > "$out/memory.py" << 'P'
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1])
pointer, count = ctypes.c_void_p(), ctypes.c_int()
assert runtime.cudaGetDeviceCount(ctypes.byref(count)) == 0 and count.value == 1, count
assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1000)) == 0
data = (ctypes.c_ubyte * 1000)(*(i % 251 for i in range(1000)))
back = (ctypes.c_ubyte * 1000)()
assert runtime.cudaMemcpy(pointer, data, ctypes.c_size_t(1000), 1) == 0
assert runtime.cudaMemcpy(back, pointer, ctypes.c_size_t(1000), 2) == 0
assert bytes(back) == bytes(data)
driver = ctypes.CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
P
for runtime in libcudart.so.12 libcudart.so.13; do
  python "$out/memory.py" $runtime || fail "$runtime is not found by name"
done

# A library that knows `torch.cuda._lazy_call`; what is queued there replaces the operators.
mkdir -p "$out/fake/torch"
printf 'class cuda:\n  queued = []\n  _lazy_call = queued.append\n' > "$out/fake/torch/__init__.py"
said=$(PYTHONPATH=$out/fake python -c 'import torch; print(len(torch.cuda.queued), torch.cuda.queued[0].__module__)')
[[ $said == "1 strata_cuda" ]] || fail "torch is not prepared: $said"

# Another sitecustomize still runs; a child process is prepared like its parent.
mkdir -p "$out/site"
echo 'print("another")' > "$out/site/sitecustomize.py"
said=$(PYTHONPATH=$out/site python -c 'import strata_cuda; print(strata_cuda.start())' | paste -sd ' ')
[[ $said == "another True" ]] || fail "sitecustomize: $said"
python -c 'import subprocess, sys; subprocess.run([sys.executable, "-c", "import strata_cuda as s; assert s.start()"], check=True)'

STRATA_DEVICE=nvidia python3 -c "import sys; sys.path.insert(0, '$build/python'); import strata_cuda as s; assert not s.start()"
said=$(python -m strata_cuda doctor) || fail "doctor: $said"
grep -q '^driver: 1 device' <<< "$said" || fail "doctor: $said"
status=0
python -m strata_cuda 2> /dev/null || status=$?
[[ $status == 1 ]] || fail "no usage"

# A folder that others may write to is not trusted with code.
mkdir -p "$out/open/torch"
chmod 777 "$out/open/torch"
STRATA_CACHE_DIR=$out/open python -c '
from strata_cuda import aten
try: aten._cache()
except RuntimeError as problem: print(problem)' | grep -q 'not this user' || fail "an open cache folder is used"
echo "python: ok"
