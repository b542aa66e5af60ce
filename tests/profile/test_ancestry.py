import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.ancestry import TASK_FRAME, depths, inherited, levels, nodes_holding
from tests.profile.strategies import recording, rows


@st.composite
def trees(draw: st.DrawFn) -> np.ndarray:
    """Parents of a random tree, root 0, in any numbering."""
    size = draw(st.integers(1, 40))
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))]
    places = [0, *draw(st.permutations(range(1, size)))]
    result = np.full(size, -1, np.int32)
    for node in range(1, size):
        result[places[node]] = places[parents[node]]
    return result


def path(parents: np.ndarray, node: int) -> list[int]:
    nodes = [node]
    while parents[nodes[-1]] >= 0:
        nodes.append(int(parents[nodes[-1]]))
    return nodes


@given(trees())
def test_prop_depths_and_levels_are_those_of_the_paths(parents):
    expected = [len(path(parents, node)) - 1 for node in range(len(parents))]
    assert depths(parents).tolist() == expected
    assert [nodes.tolist() for nodes in levels(parents)] == [
        [node for node, depth in enumerate(expected) if depth == level] for level in range(max(expected) + 1)
    ]


@given(trees(), st.data())
def test_prop_inherited_is_the_nearest_value_on_the_way_up(parents, data):
    values = st.lists(st.integers(-1, 3), min_size=len(parents), max_size=len(parents))
    own = np.array(data.draw(values), np.int32)
    expected = [next((own[n] for n in path(parents, node) if own[n] >= 0), -1) for node in range(len(parents))]
    assert inherited(parents, own).tolist() == expected


@given(rows())
def test_prop_nodes_holding_a_frame_have_it_in_their_stack(samples):
    recorded = recording(samples)
    nodes = recorded.samples["stack"].fill_null(0).to_numpy()
    holding = nodes_holding(recorded.stacks, recorded.frames)[nodes]
    assert holding.tolist() == [TASK_FRAME in row["stack"] for row in samples]
