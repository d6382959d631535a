# SPDX-License-Identifier: Apache-2.0
"""CUDA for Python on a machine without a GPU: unmodified PyTorch and Triton find Strata's driver, runtime and ptxas.

`start()` comes before the libraries are imported: `strata run -- python program.py` sees to it. Where there is a GPU, or
STRATA_DEVICE says nvidia, it does nothing.
"""

import ctypes
import importlib.machinery
import os
import sys

PREFIX = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_started = False


def has_gpu():
    return any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/dxg"))


def wanted():
    device = os.environ.get("STRATA_DEVICE", "auto")
    return device == "cpu" or (device != "nvidia" and not has_gpu())


def start():
    """Loads driver and runtime, so that libraries which need them by name get these. Returns whether it did."""
    global _started
    if _started or not wanted():
        return _started
    _started = True
    library = os.path.join(PREFIX, "lib64")
    ctypes.CDLL(os.path.join(library, "strata", "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
    for version in ("13", "12"):
        ctypes.CDLL(os.path.join(library, "libcudart.so." + version), mode=ctypes.RTLD_LOCAL)
    ptxas = os.path.join(PREFIX, "bin", "ptxas")
    os.environ.setdefault("TRITON_PTXAS_PATH", ptxas)
    os.environ.setdefault("TRITON_PTXAS_BLACKWELL_PATH", ptxas)
    os.environ.setdefault("TRITON_LIBCUDA_PATH", os.path.join(library, "strata"))
    os.environ.setdefault("TRITON_OVERRIDE_ARCH", "sm80")  # for sm_90 Triton writes wgmma, which only parses yet
    _after_import("torch", _prepare_torch)
    return True


def _prepare_torch(torch):
    def install():
        from strata_cuda import aten

        aten.install()

    torch.cuda._lazy_call(install)  # when `cuda` is first used


class _AfterImport:
    """A finder that finds what the others do, for one module, and acts once it is loaded."""

    def __init__(self, name, action):
        self.name, self.action = name, action

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            self.action(module)

        spec.loader.exec_module = exec_module
        return spec


def _after_import(name, action):
    if name in sys.modules:
        action(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, action))
