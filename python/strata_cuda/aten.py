# SPDX-License-Identifier: Apache-2.0
"""Builds aten/ against the installed PyTorch, once, and loads it (what it does: see aten/operators.cpp)."""

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import strata_cuda

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aten")
SOURCES = [os.path.join(FOLDER, name) for name in ("operators.cpp", "fused.cpp")]
HEADERS = [os.path.join(FOLDER, "fused.h")]
COMPILERS = ("clang++-19", "clang++", "g++", "c++")


def _cache():
    """A folder that only this user can write."""
    folder = os.environ.get("STRATA_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "strata"
    )
    folder = os.path.join(folder, "torch")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _require_private(folder)
    return folder


def _require_private(path):
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise RuntimeError(f"strata_cuda: {path} is not this user's alone; it is not used")


def _command(torch, compiler, output):
    base = os.path.dirname(torch.__file__)
    include, library = os.path.join(base, "include"), os.path.join(base, "lib")
    return [
        compiler, "-O2", "-std=c++20", "-fPIC", "-shared", "-w",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        "-I" + include, "-I" + os.path.join(include, "torch", "csrc", "api", "include"),
        "-I" + os.path.join(strata_cuda.PREFIX, "include"), *SOURCES, "-o", output,
        "-L" + library, "-ltorch_cpu", "-ltorch_cuda", "-lc10", "-lc10_cuda",
    ]  # fmt: skip


def _build(torch, library):
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if not compiler:
        raise RuntimeError("strata_cuda: PyTorch's operators need a C++ compiler once (one of " + ", ".join(COMPILERS) + ")")
    print(f"[strata] building PyTorch's operators for the CPU device (once, about half a minute): {library}", file=sys.stderr)
    begin = time.monotonic()
    handle, output = tempfile.mkstemp(dir=os.path.dirname(library), suffix=".so")
    os.close(handle)
    try:
        done = subprocess.run(_command(torch, compiler, output), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"strata_cuda: PyTorch {torch.__version__}: {compiler} failed:\n{done.stderr[:4000]}")
        os.chmod(output, 0o700)
        os.rename(output, library)  # processes may build at once: the last one stays
    finally:
        if os.path.exists(output):
            os.remove(output)
    print(f"[strata] built in {time.monotonic() - begin:.0f} s", file=sys.stderr)


def _key(torch):
    key = hashlib.sha256(f"{torch.__version__} {torch.__file__}".encode())
    for path in SOURCES + HEADERS:
        with open(path, "rb") as file:
            key.update(file.read())
    return key.hexdigest()[:16]


def install():
    """Replaces the CUDA kernels of ATen's operators in this process. Returns how many."""
    import torch

    library = os.path.join(_cache(), f"aten-{torch.__version__}-{_key(torch)}.so")
    if not os.path.exists(library):
        _build(torch, library)
    _require_private(library)
    error = ctypes.create_string_buffer(4096)
    count = ctypes.CDLL(library).strata_torch_install(error, ctypes.c_size_t(len(error)))
    if count < 0:
        raise RuntimeError("strata_cuda: " + error.value.decode(errors="replace"))
    return count
