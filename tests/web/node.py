"""The page modules in Node: for those that draw nothing, a thousand questions in the time of one browser start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from emberscope.report.assets import joined

_LISTEN = """
const { createInterface } = await import('node:readline');
for await (const line of createInterface({ input: process.stdin })) {
  let told;
  try { told = { value: await answer(...JSON.parse(line)) }; } catch (error) { told = { error: String(error) }; }
  process.stdout.write(JSON.stringify(told) + '\\n');
}
"""


@contextmanager
def modules(names: Iterable[str], answer: str) -> Iterator[Callable[..., Any]]:
    """A function that asks `answer(...)`, JavaScript that may use the modules, for its answer; both sides as JSON.

    Skips the test where there is no Node, fails it where the environment says CI.
    """
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Node on the PATH")
    body = joined(names).removeprefix("(() => {").removesuffix("})();\n")
    command = [str(node), "--input-type=module", "--eval", body + answer + _LISTEN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(*values: Any) -> Any:
            print(json.dumps(values), file=process.stdin, flush=True)
            told = json.loads(process.stdout.readline())
            assert "error" not in told, told
            return told["value"]

        yield ask
        process.stdin.close()
