# SPDX-License-Identifier: Apache-2.0
"""How fast PyTorch is on `cuda` beside the same PyTorch on `cpu`, both in one run and in turns: a transformer block forward,
backward and Adam step; an operator's overhead; Inductor's Triton code against its C++ code. Needs an idle machine:

    strata run -- python tests/clients/torch_speed.py
"""

import math
import statistics
import time

import torch
import torch.nn.functional as F


def seconds(run, device, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls


def in_turns(make, calls=1, turns=7):
    """Median seconds a call of make(device), for cuda and cpu."""
    runs = {device: make(device) for device in ("cuda", "cpu")}
    for device, run in runs.items():
        seconds(run, device, 2)
    found = {device: [] for device in runs}
    for _ in range(turns):
        for device, run in runs.items():
            found[device].append(seconds(run, device, calls))
    return statistics.median(found["cuda"]), statistics.median(found["cpu"])


class Block(torch.nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def block_step(device):
    torch.manual_seed(1)
    block = Block().to(device)
    optimizer = torch.optim.Adam(block.parameters(), 1e-4)
    x = torch.randn(8, 256, 512).to(device)

    def run():
        optimizer.zero_grad()
        block(x).square().mean().backward()
        optimizer.step()

    return run


def small_add(device):
    x = torch.ones(1, device=device)
    return lambda: x.add_(1)


COMPILED = {
    "pointwise": (lambda x: F.gelu(x * 2 + 1) * torch.sigmoid(x), (1024, 4096)),
    "softmax": (lambda x: x.softmax(-1), (2048, 1024)),
    "layernorm": (lambda x: F.layer_norm(x, x.shape[-1:]), (2048, 1024)),
    "sum of rows": (lambda x: x.sum(-1), (2048, 4096)),
    "sum of columns": (lambda x: x.sum(0), (4096, 1024)),
    "sum": (lambda x: x.sum(), (1024, 4096)),
}


def compiled(function, shape):
    def make(device):
        torch._dynamo.reset()
        fast, x = torch.compile(function), torch.randn(shape).to(device)
        return lambda: fast(x)

    return make


def main():
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; times are medians")
    cuda, cpu = in_turns(block_step)
    print(f"block, 8 x 256 x 512, forward, backward, Adam: cuda {cuda * 1e3:.1f} ms, cpu {cpu * 1e3:.1f} ms, x {cpu / cuda:.2f}")
    cuda, cpu = in_turns(small_add, calls=5000)
    print(f"an operator: cuda {cuda * 1e6:.2f} us, cpu {cpu * 1e6:.2f} us, {(cuda - cpu) * 1e6:.2f} us more")
    ratios = []
    for name, (function, shape) in COMPILED.items():
        cuda, cpu = in_turns(compiled(function, shape), calls=5)
        ratios.append(cpu / cuda)
        print(f"compiled {name} {shape}: cuda {cuda * 1e3:.2f} ms, cpu {cpu * 1e3:.2f} ms, x {cpu / cuda:.2f}", flush=True)
    print(f"compiled, geometric mean: x {math.exp(statistics.fmean(map(math.log, ratios))):.2f}")


if __name__ == "__main__":
    main()
