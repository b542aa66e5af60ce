import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import UsageError
from emberscope.profile.ancestry import depths
from emberscope.profile.fold import CallTree, compacted, fold, natural_weight, unit_of
from emberscope.tables.stack_tree import StackTree
from tests.profile.strategies import recording, rows, texts


def stack_weights(tree: CallTree) -> dict[tuple[str, ...], int]:
    """The weight of each stack by its names, one node at a time: the oracle for everything that is vectorised."""
    result: dict[tuple[str, ...], int] = {}
    for node, weight in enumerate(tree.self_weights.tolist()):
        path, at = [], node
        while at > 0:
            path.append(tree.names[tree.frames[at]])
            at = int(tree.parents[at])
        if weight:
            key = tuple(reversed(path))
            result[key] = result.get(key, 0) + weight
    return result


@given(rows(), rows())
def test_prop_fold_is_additive_over_one_prefix_tree(a, b):
    tree = StackTree()
    recording(a, tree=tree), recording(b, tree=tree)
    first, second, both = (recording(part, tree=tree) for part in (a, b, [*a, *b]))
    stacks, frames = tree.tables()
    summed = fold(first.samples, stacks, frames) + fold(second.samples, stacks, frames)
    assert summed == fold(both.samples, stacks, frames)


@given(rows(), st.sampled_from(["count", "value"]))
def test_prop_fold_keeps_every_weight_and_the_root_has_their_sum(samples, weight):
    recorded = recording(samples)
    tree = fold(recorded.samples, recorded.stacks, recorded.frames, weight=weight)
    assert tree.totals()[0] == sum(row[weight] for row in samples)
    assert stack_weights(tree) == {stack: w for stack, w in texts(recorded, weight).items() if w}


@given(rows())
def test_prop_totals_are_sums_over_the_stacks_below(samples):
    recorded = recording(samples)
    tree = fold(recorded.samples, recorded.stacks, recorded.frames)
    expected = tree.self_weights.copy()
    for node in reversed(range(1, len(expected))):
        expected[tree.parents[node]] += expected[node]
    assert tree.totals().tolist() == expected.tolist()


@given(rows())
def test_prop_compacted_is_the_same_profile_depth_first_without_empty_branches(samples):
    recorded = recording(samples)
    tree = fold(recorded.samples, recorded.stacks, recorded.frames)
    small = compacted(tree)
    assert stack_weights(small) == stack_weights(tree)
    assert (small.totals()[1:] > 0).all()
    assert sorted(set(small.frames.tolist())) == list(range(-1, len(small.names)))
    open_nodes: list[int] = []
    for node, (parent, depth) in enumerate(zip(small.parents.tolist(), depths(small.parents).tolist(), strict=True)):
        del open_nodes[depth:]
        assert parent == (open_nodes[-1] if open_nodes else -1)
        open_nodes.append(node)


@given(rows().flatmap(lambda samples: st.tuples(st.just(samples), st.permutations(samples))))
def test_prop_compacted_does_not_depend_on_the_order_of_samples(pair):
    a, b = (recording(samples) for samples in pair)
    assert compacted(fold(a.samples, a.stacks, a.frames)) == compacted(fold(b.samples, b.stacks, b.frames))


def test_compacted_puts_the_heavier_sibling_first():
    recorded = recording([{"stack": ["light"], "count": 1}, {"stack": ["heavy", "x"], "count": 3}])
    tree = compacted(fold(recorded.samples, recorded.stacks, recorded.frames))
    assert [tree.names[f] for f in tree.frames[1:]] == ["heavy", "x", "light"]


def test_fold_names_the_line_where_there_is_one():
    tree = StackTree()
    node = tree.node([tree.frame("a.B.c", "java", 42)])
    stacks, frames = tree.tables()
    samples = recording([{"stack": [], "count": 1}]).samples
    samples = samples.set_column(samples.schema.get_field_index("stack"), "stack", [np.array([node], np.int32)])
    assert fold(samples, stacks, frames).names == ("a.B.c:42",)


def test_fold_refuses_values_that_are_not_there():
    recorded = recording([{"stack": ["a"], "count": 1}, {"stack": ["a"], "count": 1, "value": 5}])
    with pytest.raises(UsageError, match="1 of 2 samples have no value"):
        fold(recorded.samples, recorded.stacks, recorded.frames, weight="value")


def test_trees_of_different_prefix_trees_do_not_add():
    a, b = (recording([{"stack": [name], "count": 1}]) for name in "ab")
    with pytest.raises(ValueError, match="one prefix tree"):
        fold(a.samples, a.stacks, a.frames) + fold(b.samples, b.stacks, b.frames)


def test_units_follow_the_event():
    def samples(*events):
        return recording([{"stack": [], "event": event, "count": 1, "value": 1} for event in events]).samples

    assert unit_of(samples("alloc", "cpu"), "count") == "samples"
    assert unit_of(samples("alloc"), "value") == "bytes"
    assert unit_of(samples("cpu", "lock"), "value") == "ns"
    assert natural_weight(samples("cpu"), "cpu") == "count"
    assert natural_weight(samples("alloc"), "alloc") == "value"
    with pytest.raises(UsageError, match="mix times and bytes"):
        unit_of(samples("cpu", "alloc"), "value")
