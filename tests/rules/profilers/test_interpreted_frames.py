from __future__ import annotations

from tests.rules.profilers.pasted import answers


def test_a_report_of_perf_tells_the_share() -> None:
    # github.com/jvm-profiling-tools/perf-map-agent/issues/6, with other numbers
    text = "    41.20%     java  perf-31.map  [.] Interpreter\n   --- Interpreter\n       Interpreter\n       call_stub"
    assert "41.20 %" in answers(text)["P13"].title


def test_frames_of_perf_script() -> None:
    text = "        7f01 Interpreter (/tmp/perf-4711.map)\n        7f02 Interpreter (/tmp/perf-4711.map)"
    assert "P13" in answers(text)
    assert answers("        7f01 Interpreter::run (/usr/lib/libpython.so)") == {}
