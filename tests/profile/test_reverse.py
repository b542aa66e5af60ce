from collections import Counter

from emberscope.jfr.recording import read_recording
from emberscope.profile.reverse import reverse
from tests.jfr.recordings import DATA, paths


def test_every_stack_is_turned_round_and_back():
    recording = read_recording((DATA / "workload-jdk17.jfr.gz").read_bytes(), "x")
    samples, stacks = reverse(recording.samples, recording.stacks)
    there, back = (
        Counter(known[node] for node in table["stack"].to_pylist())
        for table, known in (
            (recording.samples, paths(recording.stacks, recording.frames)),
            (samples, paths(stacks, recording.frames)),
        )
    )
    assert back == Counter({tuple(reversed(stack)): count for stack, count in there.items()})
    twice, tree = reverse(samples, stacks)
    assert Counter(paths(tree, recording.frames)[node] for node in twice["stack"].to_pylist()) == there
