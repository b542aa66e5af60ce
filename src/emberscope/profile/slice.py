"""Which samples a question is about."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class Slice:
    """A choice of samples; None is "any". All that is given must hold at once.

    `stages` are the stages of a job, which the caller looks up; `thread` is a Java thread id or an exact thread name;
    `from_ns` and `to_ns` are epoch ns, the second is not included.
    """

    event: str | None = None
    variant: str | None = None
    sql: int | None = None
    stage: int | None = None
    stages: frozenset[int] | None = None
    attempt: int | None = None
    task: int | None = None
    executor: str | None = None
    host: str | None = None
    thread: int | str | None = None
    from_ns: int | None = None
    to_ns: int | None = None
    role: str | None = None
    state: str | None = None


def select(samples: pa.Table, where: Slice) -> pa.Table:
    """The rows of `samples` that `where` asks for, in their order. A null never equals what is asked for."""
    equal = {
        "event": where.event,
        "variant": where.variant,
        "sql_execution_id": where.sql,
        "stage_id": where.stage,
        "stage_attempt": where.attempt,
        "task_id": where.task,
        "executor_id": where.executor,
        "host": where.host,
        "role": where.role,
        "state": where.state,
        "thread_name" if isinstance(where.thread, str) else "thread_id": where.thread,
    }
    tests = [pc.equal(samples[name], value) for name, value in equal.items() if value is not None]
    if where.stages is not None:
        tests.append(pc.is_in(samples["stage_id"], value_set=pa.array(sorted(where.stages), pa.int32())))
    if where.from_ns is not None:
        tests.append(pc.greater_equal(samples["time_ns"], where.from_ns))
    if where.to_ns is not None:
        tests.append(pc.less(samples["time_ns"], where.to_ns))
    for test in tests[1:]:
        tests[0] = pc.and_kleene(tests[0], test)
    return samples.filter(tests[0]) if tests else samples
