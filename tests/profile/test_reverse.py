from hypothesis import given

from emberscope.profile.reverse import reverse
from tests.profile.strategies import recording, rows, texts


@given(rows())
def test_prop_reverse_turns_every_stack_round_and_keeps_its_weight(samples):
    recorded = recording(samples)
    turned, stacks = reverse(recorded.samples, recorded.stacks)
    made = type(recorded)(recorded.facts, turned, stacks, recorded.frames, recorded.spans, recorded.series)
    assert texts(made) == {stack[::-1]: weight for stack, weight in texts(recorded).items()}
    nodes = list(zip(stacks["parent"].to_pylist(), stacks["frame"].to_pylist(), strict=True))
    assert len(set(nodes)) == len(nodes)
