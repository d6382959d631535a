# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators on `cuda` against the same on `cpu`: results, and gradients where there are any, on the inputs that
PyTorch's own tests make (OpInfo). Needs torch, expecttest and numpy:

    strata run -- python tests/clients/torch_operators.py [PART PARTS]

Prints each operator that differs, fails or is refused, and a last line of counts. Operators whose results are random or
not initialised are only run, and their shapes compared.
"""

import collections
import random
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool)
UNDEFINED = (
    "empty", "rand", "normal", "dropout", "cauchy", "uniform", "exponential", "multinomial", "bernoulli", "geometric",
    "rrelu", "fractional", "lowrank",
)  # fmt: skip
SAMPLES = 4  # of each operator and type


def moved(x, device):
    if isinstance(x, torch.Tensor):
        return x.detach().clone().to(device).requires_grad_(x.requires_grad)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(moved(e, device) for e in x))
    if isinstance(x, (list, tuple)):
        return type(x)(moved(e, device) for e in x)
    if isinstance(x, dict):
        return {k: moved(v, device) for k, v in x.items()}
    if isinstance(x, torch.device) or x in ("cpu", "cuda"):
        return type(x)(device)
    return x


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    elements = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else []
    return [t for e in elements for t in tensors(e)]


def results(op, sample, device):
    """All tensors of the result, then the gradients of the inputs."""
    torch.manual_seed(5)
    input, args, kwargs = (moved(x, device) for x in (sample.input, sample.args, sample.kwargs))
    out = tensors(op.op(input, *args, **kwargs))
    inputs = [t for t in tensors([input, args, kwargs]) if t.requires_grad]
    differentiable = [t for t in out if t.requires_grad]
    if not inputs or not differentiable:
        return out
    torch.manual_seed(6)
    weights = [torch.randn(t.shape, dtype=t.dtype).to(device) for t in differentiable]
    gradients = torch.autograd.grad(differentiable, inputs, weights, allow_unused=True)
    return [t.detach() for t in out] + [g for g in gradients if g is not None]


def difference(got, want, values):
    if len(got) != len(want):
        return f"{len(got)} tensors instead of {len(want)}"
    tolerance = 1e-2 if want and want[0].dtype.itemsize < 4 else 1e-4
    for a, b in zip(got, want):
        if a.device.type != "cuda":
            return f"a result on {a.device}"
        if a.layout != torch.strided:
            a, b = a.to_dense(), b.to_dense()
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"{tuple(a.shape)} {a.dtype} instead of {tuple(b.shape)} {b.dtype}"
        if values and not torch.allclose(a.cpu(), b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return "values"
    return None


def outcome(op, dtype, name):
    differentiable = op.supports_autograd and dtype in (torch.float32, torch.float64, torch.complex64)
    values = not any(word in name for word in UNDEFINED)
    for sample in list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))[:SAMPLES]:
        try:
            want = results(op, sample, "cpu")
        except Exception:
            return "fails on cpu", ""
        try:
            problem = difference(results(op, sample, "cuda"), want, values)
        except NotImplementedError as refusal:
            return "refused", str(refusal)
        except Exception as error:
            return "error", f"{type(error).__name__}: {error}"
        if problem:
            return "differs", problem
    return "equal" if values else "random: runs", ""


def main(part=0, parts=1):
    warnings.filterwarnings("ignore")
    cases = [(op, dtype) for op in op_db for dtype in TYPES if dtype in op.dtypes]
    random.Random(1).shuffle(cases)
    counts = collections.Counter()
    for op, dtype in cases[part::parts]:
        name = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''} {str(dtype)[6:]}"
        state, why = outcome(op, dtype, name)
        counts[state] += 1
        if state not in ("equal", "random: runs", "fails on cpu"):
            print(f"{state}: {name}: {why[:200]}", flush=True)
    print(f"torch {torch.__version__}: {len(cases[part::parts])} operator x type cases:", dict(counts), flush=True)
    return counts["differs"] + counts["error"] > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
