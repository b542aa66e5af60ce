from __future__ import annotations

from emberscope.report.plan_figures import Figures, Metric, figures


def of(*metrics: tuple[str, str | None, int | None]) -> Figures:
    return figures([Metric(number, *said) for number, said in enumerate(metrics)])


def test_what_an_operator_counts() -> None:
    sort = of(("sort time", "timing", 284), ("peak memory", "size", 1 << 20), ("spill size", "size", 3 << 20))
    assert sort == Figures(time_ms=284, peak_bytes=1 << 20, spilled_bytes=3 << 20)
    assert sort.words() == ["284 ms", "peak 1.0 MiB"]


def test_an_exchange_writes_and_then_waits() -> None:
    counted = of(
        ("shuffle records written", "sum", 5),
        ("shuffle bytes written", "size", 2048),
        ("data size", "size", 9000),
        ("shuffle write time", "nsTiming", 3_000_000),
        ("fetch wait time", "timing", 7),
        ("number of partitions", "sum", 8),
    )
    assert (counted.rows, counted.size_bytes, counted.time_ms, counted.in_tasks, counted.partitions) == (
        5,
        2048,
        10,
        True,
        8,
    )


def test_no_task_ran_while_the_driver_built_a_broadcast() -> None:
    counted = of(("time to collect", "timing", 5), ("time to build", "timing", 6), ("time to broadcast", "timing", 7))
    assert (counted.time_ms, counted.in_tasks) == (18, False)


def test_the_names_of_spark_1_and_of_plugins() -> None:
    old = of(("data size (bytes)", "sum", 512), ("time to build (ms)", "sum", 3), ("number of output rows", "sum", 1))
    assert old.words() == ["1 row", "512 B", "3 ms"]
    assert of(("duration total (min, med, max)", "timing", 1200)).time_ms == 1200
    photon = of(
        ("cumulative time", "nsTiming", 10**9), ("exclusive time", "nsTiming", 10**6), ("peak memory usage", "size", 4)
    )
    assert (photon.time_ms, photon.peak_bytes) == (1, 4)
    assert of(("op time", "nsTiming", 2 * 10**6), ("output rows", "sum", 0)).words() == ["0 rows", "2 ms"]


def test_what_was_not_counted_is_not_zero() -> None:
    assert of(("number of output rows", "sum", None), ("spill size", "size", -1)) == Figures(in_tasks=False)
    assert of(("number of output rows", "sum", None)).words() == []
