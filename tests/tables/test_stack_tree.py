from hypothesis import given
from hypothesis import strategies as st

from emberscope.tables.stack_tree import ROOT, StackTree

stacks = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=30)


def names_of(tree: StackTree, node: int) -> list[str]:
    names = []
    while node != ROOT:
        names.append(tree.names[tree.frames()[node]])
        node = tree.parents()[node]
    return names[::-1]


@given(stacks)
def test_prop_every_stack_comes_back_and_parents_come_first(wanted: list[list[str]]) -> None:
    tree = StackTree()
    nodes = [tree.node(tree.frame(name) for name in stack) for stack in wanted]
    assert [names_of(tree, node) for node in nodes] == wanted
    assert all(parent < node for node, parent in enumerate(tree.parents()))


@given(stacks)
def test_prop_equal_stacks_are_one_node(wanted: list[list[str]]) -> None:
    tree = StackTree()
    nodes = {tuple(stack): tree.node(tree.frame(name) for name in stack) for stack in wanted}
    assert len(set(nodes.values())) == len(nodes)
    for stack in wanted:
        assert tree.node(tree.frame(name) for name in stack) == nodes[tuple(stack)]


def test_frames_differ_by_kind_and_line() -> None:
    tree = StackTree()
    assert len({tree.frame("a"), tree.frame("a", "native"), tree.frame("a", "java", 3), tree.frame("a")}) == 3
    stacks_table, frames = tree.tables()
    assert frames["kind"].to_pylist() == ["java", "native", "java"]
    assert stacks_table.to_pylist() == [{"parent": -1, "frame": -1}]
