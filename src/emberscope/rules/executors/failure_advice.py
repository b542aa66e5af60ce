"""What to do about failed tasks: by the kind of failure, with values of this run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.settings import number_setting
from emberscope.simulate.stage_figures import stage_figures
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.rules.executors.failed_attempts import FailedAttempts
    from emberscope.tables.run import Run


def failure_advice(
    run: Run, kind: str, attempts: FailedAttempts | None, line: str | None, said: str
) -> Iterator[Advice]:
    if kind == "disk":
        yield from _disk(run, attempts)
    elif kind == "fetch":
        yield from _fetch(run)
    elif kind == "lost":
        yield Advice("check", "Read the end of the standard error of the executor that went away.")
    elif line:
        yield Advice("code", f"Look at {line}: {said}")
    elif kind == "error":
        yield Advice("code", f"Handle in the program what ends the tasks: {said}")
    else:
        yield Advice("check", f"No task failed: look for the reason on the driver. {said}")


def _disk(run: Run, attempts: FailedAttempts | None) -> Iterator[Advice]:
    hosts = sorted({str(one) for one in attempts.texts("host").tolist() if one}) if attempts is not None else []
    named = f" of {', '.join(hosts[:4])}{' and others' if len(hosts) > 4 else ''}" if hosts else ""
    own = run.setting("spark.local.dir")
    yield Advice(
        "check",
        f"Look at the disks{named} (`df -h`, `du`): what fills {own or 'the local directories'} (spark.local.dir, or "
        "LOCAL_DIRS of YARN), and whether applications that are gone left files there.",
    )
    figures = stage_figures(run)
    if figures is not None:
        largest = float(np.nanmax(figures.total("shuffle_write_bytes"), initial=0.0))
        spilled = float(figures.total("disk_spilled_bytes").sum())
        written = f"shuffles of up to {format_bytes(largest)}" if largest else "its shuffles"
        spill = f" and {format_bytes(spilled)} of spill" if spilled else ""
        yield Advice(
            "cluster",
            f"Give each node local disk for what it holds: this run wrote {written}{spill} before it failed, and all "
            "shuffle output stays until its executors or its owners are gone.",
        )
    yield Advice(
        "code",
        "Write less to local disks: select only the columns that are needed and filter before the shuffle; broadcast "
        "small sides of joins; cache to memory only.",
    )


def _fetch(run: Run) -> Iterator[Advice]:
    yield Advice(
        "check",
        "No executor is known to have gone away: look at the executors that wrote the output (garbage collection, "
        "load, network, full disks) at the time of the first failure.",
    )
    tries = number_setting(run, "spark.shuffle.io.maxRetries", 3)
    yield set_conf(
        "spark.shuffle.io.maxRetries",
        max(10, math.ceil(2 * tries)),
        f"Readers gave up after {tries:g} tries; an executor in a long collection answers later.",
    )
