from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.fold import compacted, fold
from emberscope.profile.merge import merge
from emberscope.tables.stack_tree import StackTree
from tests.profile.strategies import recording, rows, texts


def folded(recorded):
    return compacted(fold(recorded.samples, recorded.stacks, recorded.frames))


@given(st.lists(rows(), max_size=4))
def test_prop_folding_what_was_merged_sums_by_the_text_of_stacks(parts):
    recordings = [recording(part) for part in parts]
    merged = merge(recordings)
    expected: dict[tuple[str, ...], int] = {}
    for one in recordings:
        for stack, weight in texts(one).items():
            expected[stack] = expected.get(stack, 0) + weight
    assert texts(merged) == expected
    assert merged.samples["value"].to_pylist() == [row["value"] for part in parts for row in part]
    assert folded(merged) == folded(recording([row for part in parts for row in part]))


@given(st.lists(rows(), min_size=1, max_size=3))
def test_prop_a_merged_tree_has_no_stack_twice(parts):
    merged = merge([recording(part) for part in parts])
    nodes = list(zip(merged.stacks["parent"].to_pylist(), merged.stacks["frame"].to_pylist(), strict=True))
    assert len(set(nodes)) == len(nodes)
    assert nodes[0] == (-1, -1)
    assert all(parent < node for node, (parent, _) in enumerate(nodes))
    frames = list(zip(*(merged.frames[name].to_pylist() for name in ("name", "kind", "line")), strict=True))
    assert len(set(frames)) == len(frames)


@given(rows(), rows(), rows())
def test_prop_merge_is_associative(a, b, c):
    parts = [recording(part) for part in (a, b, c)]
    left = merge([merge(parts[:2]), parts[2]])
    right = merge([parts[0], merge(parts[1:])])
    assert folded(left) == folded(right) == folded(merge(parts))


def test_recordings_of_one_growing_tree_keep_their_numbers():
    tree = StackTree()
    first = recording([{"stack": ["a", "b"], "count": 1}], tree=tree)
    second = recording([{"stack": ["a", "c"], "count": 2}], tree=tree)
    merged = merge([first, second])
    assert merged.stacks.equals(second.stacks)
    assert merged.samples["stack"].to_pylist() == [2, 3]


def test_merging_nothing_gives_empty_tables_and_a_root():
    merged = merge([])
    assert merged.stacks.to_pylist() == [{"parent": -1, "frame": -1}]
    assert (merged.samples.num_rows, merged.frames.num_rows, merged.spans.num_rows) == (0, 0, 0)
