#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each include goes down: checks all C++ sources of the tree against the one table of layers below.

usage: layers.py [ROOT]   (default: this tree). Exits with 1 and a line per offence.
"""
import os
import re
import sys

# Layer, its folders or files (the longest that fits a file counts), the layers that it may include besides itself, and whether it
# may use LLVM and Clang. Bottom first: a layer names only layers that stand before it, so that there are no circles.
LAYERS = [
    ('cuda headers', ['toolkit/include'], [], False),
    ('base', ['base'], [], False),
    ('ptx', ['ptx'], ['base'], False),
    ('processor', ['simt/target/simd_level', 'simt/target/simd_levels', 'simt/target/machine', 'simt/target/x86_machine',
                   'simt/target/relocations', 'simt/target/x86_relocations'], ['base'], False),
    ('engine interface', ['simt/simt.h', 'simt/abi.h', 'simt/intrinsics', 'simt/engine_id.h'],
     ['base', 'processor'], False),
    ('executor', ['simt/exec', 'simt/target/x86_cpu'], ['base', 'processor', 'engine interface'], False),
    ('target', ['simt/target'], ['base', 'processor', 'engine interface'], True),
    ('analyses', ['simt/analysis'], ['base', 'processor', 'engine interface', 'target'], True),
    ('passes', ['simt/passes', 'simt/emit', 'simt/pass.h', 'simt/run_passes', 'simt/pass_trace.h'],
     ['base', 'processor', 'engine interface', 'target', 'analyses'], True),
    ('lowering', ['simt/lower'], ['base', 'ptx', 'engine interface', 'target', 'analyses'], True),
    ('code generator', ['simt/jit', 'simt/pipeline', 'simt/target/x86_approx', 'simt/target/x86_directed', 'simt/target/x86_minmax'],
     ['base', 'ptx', 'processor', 'engine interface', 'target', 'analyses', 'passes', 'lowering'], True),
    ('driver', ['driver'], ['cuda headers', 'base', 'processor', 'engine interface', 'executor'], False),
    ('cuda', ['cuda'], ['cuda headers', 'base'], False),
    ('runtime', ['runtime'], ['cuda headers', 'base', 'cuda'], False),
    ('device mathematics', ['toolkit/libdevice'], ['cuda headers'], False),
    ('compilers', ['toolkit/nvcc', 'toolkit/ptxas'], ['base', 'ptx', 'engine interface', 'executor'], True),
    ('tools', ['tools'], ['base', 'processor', 'engine interface', 'executor', 'compilers'], False),
]
# Beside the layers: they include what they like, and nothing includes them.
BESIDE = ['tests', 'bench', 'examples', 'docs', 'python', 'cmake']
# Made by the build.
GENERATED = ['simt/engine_id.h', 'cuda_entries.h']

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
ENDINGS = ('.cpp', '.h', '.def', '.c', '.S', '.cu', '.cuh')


def layer_of(path):
    best = None
    for layer in LAYERS:
        for place in layer[1]:
            inside = path == place or path.startswith(place + '/') or path.startswith(place + '.')
            if inside and (best is None or len(place) > best[0]):
                best = (len(place), layer)
    return best and best[1]


def sources(root):
    for folder, folders, files in os.walk(root):
        here = os.path.relpath(folder, root)
        folders[:] = sorted(f for f in folders if not f.startswith('.') and
                            not os.path.exists(os.path.join(folder, f, 'CMakeCache.txt')) and
                            not (here == '.' and f in BESIDE))
        for name in sorted(files):
            if name.endswith(ENDINGS):
                yield os.path.normpath(os.path.join(here, name))


def target_of(root, path, name):
    """The file of the tree that the include names, or None."""
    for base in ('', os.path.dirname(path), 'toolkit/include'):
        found = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(os.path.join(root, found)):
            return found
    return name if name in GENERATED else None


def check_file(root, path):
    layer = layer_of(path)
    if not layer:
        yield f'{path}: belongs to no layer (tests/house/layers.py)'
        return
    with open(os.path.join(root, path), encoding='utf-8') as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        quote, name = match.groups()
        at = f'{path}:{text.count(chr(10), 0, match.start(2)) + 1}'
        if quote == '<':
            if re.match(r'(llvm|clang)(-c)?/', name) and not layer[3]:
                yield f'{at}: {layer[0]} uses no LLVM, but includes <{name}>'
            continue
        found = target_of(root, path, name)
        if not found:
            yield f'{at}: no file "{name}" in the tree'
            continue
        if found == 'cuda_entries.h':
            continue
        below = layer_of(found)
        if not below:
            yield f'{at}: "{name}" belongs to no layer'
        elif below is not layer and below[0] not in layer[2]:
            yield f'{at}: {layer[0]} may not include {below[0]} ("{name}")'


def check_table():
    seen = set()
    for name, _, uses, _ in LAYERS:
        for used in uses:
            if used not in seen:
                yield f'tests/house/layers.py: {name} names {used}, which is not below it'
        seen.add(name)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    files = list(sources(root))
    offences = list(check_table()) + [line for path in files for line in check_file(root, path)]
    for line in offences:
        print(line, file=sys.stderr)
    print(f'{len(files)} files, {len(offences)} offences')
    return 1 if offences or not files else 0


if __name__ == '__main__':
    sys.exit(main())
