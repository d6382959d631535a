#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each optional pass of the SIMD engine gains: the benchmarks' kernels and the held-out ones run with all passes and
without one, by turns, so that what else the machine does falls on both. Printed is the median over the rounds of time
without ÷ time with, as a geometric mean over the kernels of each set; above 1: the pass gains."""
import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile


def optional_passes(build):
    """Their names are in the error that an unknown one gives."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as kernel:
        kernel.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")
        kernel.flush()
        said = subprocess.run([f"{build}/bin/strata", "inspect", kernel.name, "--stage", "passes"], text=True,
                              capture_output=True, env={**os.environ, "STRATA_PASSES": "-"}).stderr
    _, found, names = said.partition("it may hold verify, ")
    if not found:
        sys.exit(f"ablation: no list of passes: {said}")
    return [name.strip(",").lstrip("-") for name in names.split()]


def run(program, arguments, without):
    environment = {**os.environ, "STRATA_CACHE_SIZE": "0", "STRATA_PASSES": f"-{without}" if without else ""}
    said = subprocess.run([program, *arguments], text=True, capture_output=True, env=environment)
    if said.returncode:
        sys.exit(f"ablation: {program} without {without or 'nothing'}: {said.stdout}{said.stderr}")
    lines = [line.split() for line in said.stdout.splitlines()]
    return {w[0]: (float(w[1]), float(w[2])) for w in lines if len(w) == 3}


def ratios(program, arguments, without, rounds):
    """By kernel: (run, compile) time without the pass ÷ with it."""
    found = {}
    for turn in range(rounds):
        order = [None, without] if turn % 2 == 0 else [without, None]
        both = {who: run(program, arguments, who) for who in order}
        for kernel, (time, compile) in both[None].items():
            lacking = both[without][kernel]
            found.setdefault(kernel, []).append((lacking[0] / time, lacking[1] / max(compile, 0.01)))
    return {kernel: tuple(statistics.median(column) for column in zip(*values)) for kernel, values in found.items()}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--passes", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()

    known = optional_passes(options.build)
    for name in options.passes or []:
        if name not in known:
            sys.exit(f"ablation: there is no optional pass '{name}'; there are: {' '.join(known)}")
    outputs, heldout = f"{options.build}/bench/bench_outputs", f"{options.build}/bench/bench_heldout"
    small = ["--small"] if options.small else []
    listed = set(subprocess.run([heldout, "--list"], text=True, capture_output=True, check=True).stdout.split())
    cases = [name for name in options.only if name not in listed]
    held = [name for name in options.only if name in listed]
    sets = [("kernels", outputs, ["--seed", "1", "--times", "0.05", *small, *(["--only", *cases] if cases else [])]),
            ("held out", heldout, ["--times", "--seconds", "0.05", *(["--only", *held] if held else [])])]
    print(f"{'without':<24} {'kernels':>8} {'held out':>8} {'compile':>8}   most gained and lost, of both sets")
    counts = {}
    for name in options.passes or known:
        both, compile, line = {}, [], f"{name:<24}"
        for title, program, arguments in sets:
            found = ratios(program, arguments, name, options.rounds)
            counts[title] = len(found)
            both |= {kernel: value[0] for kernel, value in found.items()}
            compile += [value[1] for value in found.values()]
            line += f" {mean([value[0] for value in found.values()]):8.3f}"
        order = sorted(both, key=both.get)
        ends = order[-1:-4:-1] + [kernel for kernel in order[:2] if kernel not in order[-3:]]
        print(f"{line} {mean(compile):8.3f}   {' '.join(f'{kernel} {both[kernel]:.2f}' for kernel in ends)}"
              f"   ({counts['kernels']} of 23 kernels, {counts['held out']} of {len(listed)} held out)", flush=True)


if __name__ == "__main__":
    main()
