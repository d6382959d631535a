# SPDX-License-Identifier: Apache-2.0
"""`python -m strata_cuda doctor`: what is installed, and whether it works."""

import ctypes
import sys

import strata_cuda


def _driver():
    driver = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    for call, result in (("cuInit", driver.cuInit(0)), ("cuDeviceGetCount", driver.cuDeviceGetCount(ctypes.byref(count)))):
        if result:
            raise RuntimeError(f"{call} gives {result}")
    return f"{count.value} device(s)"


def _torch():
    import torch

    x = torch.arange(1000.0, device="cuda")
    if (x * 2).sum().item() != 999000:
        raise RuntimeError("a sum on cuda is wrong")
    return f"{torch.__version__} on {torch.cuda.get_device_name()}"


def _triton():
    import triton

    return f"{triton.__version__}, assembler {triton.knobs.nvidia.ptxas.version}"


def doctor():
    print("prefix:", strata_cuda.PREFIX)
    print("device:", "Strata's CPU device" if strata_cuda.start() else "NVIDIA GPU")
    bad = 0
    for name, check in (("driver", _driver), ("torch", _torch), ("triton", _triton)):
        try:
            print(f"{name}: {check()}")
        except ImportError:
            print(f"{name}: not installed")
        except Exception as problem:
            print(f"{name}: FAILED: {problem}")
            bad = 1
    return bad


if __name__ == "__main__":
    if sys.argv[1:] != ["doctor"]:
        sys.exit("usage: python -m strata_cuda doctor")
    sys.exit(doctor())
