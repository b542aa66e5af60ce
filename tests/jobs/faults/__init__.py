"""Jobs with exactly one fault each, and their healthy twins: `python -m tests.jobs.faults --help`."""

import os


def scaled(amount: float) -> int:
    """An amount of work at the scale that the job was started with, at least 1."""
    return max(1, round(amount * float(os.environ["FAULT_SCALE"])))
