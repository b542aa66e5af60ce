from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

from emberscope.kernel import plain

HAS_NATIVE = importlib.util.find_spec("emberscope.kernel._native") is not None
KERNELS = {"plain": plain}
if HAS_NATIVE:
    KERNELS["native"] = importlib.import_module("emberscope.kernel._native")


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> Any:
    """Each implementation of the kernel that is there."""
    return KERNELS[request.param]


@pytest.fixture(params=[True, False], ids=["compressed", "raw"])
def compressed(request: pytest.FixtureRequest) -> bool:
    """Both ways in which a chunk writes its integers."""
    return bool(request.param)
