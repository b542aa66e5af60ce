"""What the tests of the text profiles share."""

from collections import Counter
from pathlib import Path

from emberscope.tables.recording import Recording

DATA = Path(__file__).resolve().parents[1] / "data/perf"


def by_stack(recording: Recording) -> Counter[tuple[str, ...]]:
    """Samples by stack, root first."""
    parents, frames = recording.stacks["parent"].to_pylist(), recording.stacks["frame"].to_pylist()
    names = recording.frames["name"].to_pylist()
    found: Counter[tuple[str, ...]] = Counter()
    for node, count in zip(recording.samples["stack"].to_pylist(), recording.samples["count"].to_pylist(), strict=True):
        path: list[str] = []
        while node:
            path.insert(0, names[frames[node]])
            node = parents[node]
        found[tuple(path)] += count
    return found


def kinds(recording: Recording) -> dict[str, str]:
    """Kind of each frame by its name."""
    return dict(zip(recording.frames["name"].to_pylist(), recording.frames["kind"].to_pylist(), strict=True))


def notes(recording: Recording) -> dict[str, dict[str, float]]:
    """What was lost, by code of the note."""
    return {note.code: note.lost for note in recording.facts.coverage.notes}
