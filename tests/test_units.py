import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import UsageError
from emberscope.units import (
    counted,
    format_bytes,
    format_count,
    format_ms,
    format_ratio,
    format_time,
    parse_bytes,
    parse_ms,
    printable,
)


@pytest.mark.parametrize(
    ("text", "unit", "size_bytes"),
    [
        ("1g", "", 1 << 30),
        ("512m", "", 512 << 20),
        ("8 GiB", "", 8 << 30),
        ("100", "", 100),
        ("100", "m", 100 << 20),
        ("100b", "m", 100),
        ("1.5k", "", 1536),
        ("2TB", "", 2 << 40),
    ],
)
def test_parse_bytes_reads_sparks_spellings(text: str, unit: str, size_bytes: int) -> None:
    assert parse_bytes(text, default_unit=unit) == size_bytes


@pytest.mark.parametrize("text", ["", "g", "1x", "-1g", "1 g b", "one"])
def test_parse_bytes_refuses_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("30s", 30_000), ("5min", 300_000), ("5m", 300_000), ("100", 100), ("250us", 0.25), ("2h", 7_200_000)],
)
def test_parse_ms_reads_sparks_spellings(text: str, ms: float) -> None:
    assert parse_ms(text) == ms


def test_parse_ms_takes_the_default_unit_of_the_setting() -> None:
    assert parse_ms("3", default_unit="s") == 3000
    with pytest.raises(UsageError, match="is not a time"):
        parse_ms("soon")


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (964.5, "965 ms"),
        (999.6, "1.0 s"),
        (1_250, "1.3 s"),
        (12_340, "12.3 s"),
        (59_960, "1 min 00 s"),
        (245_000, "4 min 05 s"),
        (7_800_000, "2 h 10 min"),
        (-1500, "-1.5 s"),
        (-0.2, "0 ms"),
        (80_000_000_000, "22,222 h 13 min"),
    ],
)
def test_format_ms(ms: float, text: str) -> None:
    assert format_ms(ms) == text


@given(st.floats(min_value=0, max_value=1e12))
def test_prop_format_ms_carries_into_the_next_unit(ms: float) -> None:
    words = format_ms(ms).split()
    limits = {"ms": 1000, "s": 60, "min": 60, "h": float("inf")}
    assert all(
        float(number.replace(",", "")) < limits[unit] for number, unit in zip(words[::2], words[1::2], strict=True)
    )


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), (1023.9 * 1024, "1.0 MiB"), (300 << 20, "300 MiB")],
)
def test_format_bytes(size_bytes: float, text: str) -> None:
    assert format_bytes(size_bytes) == text


def test_format_count_and_ratio() -> None:
    assert format_count(1234567) == "1,234,567"
    assert [format_ratio(r) for r in (0, 0.0004, 0.004, 0.1234, 0.9996)] == [
        "0 %",
        "<0.1 %",
        "0.4 %",
        "12.3 %",
        "100 %",
    ]


def test_counted_is_singular_for_one_only() -> None:
    assert [counted(n, "task") for n in (0, 1, 2000)] == ["0 tasks", "1 task", "2,000 tasks"]


@given(st.integers(-(2**63), 2**63 - 1))
def test_prop_any_moment_has_words_or_none(epoch_ms: int) -> None:
    words = format_time(epoch_ms)
    assert words is None or words.endswith(" UTC")


def test_format_time() -> None:
    assert format_time(1_796_049_015_999) == "2026-11-30 14:30:15 UTC"
    assert format_time(-1) == "1969-12-31 23:59:59 UTC"
    assert format_time(2**62) is None


@given(st.text())
def test_prop_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    said = printable(text)
    assert len(said) == len(text)
    assert all(letter == "\n" or letter.isprintable() for letter in said)
