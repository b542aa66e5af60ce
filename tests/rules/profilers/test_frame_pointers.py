from __future__ import annotations

from tests.rules.profilers.pasted import answers


def test_not_where_the_option_is_there() -> None:
    broken = "Our java stacks are truncated in the perf flame graph"
    assert "-XX:+PreserveFramePointer" in answers(broken)["P14"].summary
    assert "P14" not in answers(f"{broken} with -XX:+PreserveFramePointer set")
