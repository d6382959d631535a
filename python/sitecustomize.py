# SPDX-License-Identifier: Apache-2.0
"""Python runs this first of all where `strata run` or `strata env` has put this folder into PYTHONPATH."""

import importlib.machinery
import importlib.util
import os
import sys

import strata_cuda

strata_cuda.start()


def _next():
    """Another sitecustomize that this one hides still runs."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_next()
