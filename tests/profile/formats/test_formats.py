"""What other tools read: the same weights as the tree, whatever the names hold."""

import json

from hypothesis import given

from emberscope.profile.fold import fold
from emberscope.profile.formats.folded import folded
from emberscope.profile.formats.json import columns
from emberscope.profile.formats.speedscope import speedscope
from tests.profile.strategies import recording, rows, texts


def tree_of(samples, weight="count"):
    recorded = recording(samples)
    return fold(recorded.samples, recorded.stacks, recorded.frames, weight=weight), texts(recorded, weight)


@given(rows())
def test_prop_folded_lines_have_the_stacks_and_their_weights(samples):
    tree, expected = tree_of(samples)
    clean = str.maketrans({";": ":", "\n": " ", "\r": " "})
    found: dict[tuple[str, ...], int] = {}
    for line in folded(tree).split("\n")[:-1]:
        stack, weight = line.rsplit(" ", 1)
        found[tuple(stack.split(";"))] = found.get(tuple(stack.split(";")), 0) + int(weight)
    assert found == {tuple(n.translate(clean) for n in stack) or ("[no stack]",): w for stack, w in expected.items()}


def test_folded_is_root_first_heaviest_first_and_ends_each_line():
    tree, _ = tree_of([{"stack": ["a", "b"], "count": 1}, {"stack": ["c"], "count": 4}, {"stack": [], "count": 2}])
    assert folded(tree) == "[no stack] 2\nc 4\na;b 1\n"


def test_folded_of_nothing_is_nothing():
    tree, _ = tree_of([])
    assert folded(tree) == ""


@given(rows())
def test_prop_speedscope_holds_the_stacks_and_their_weights(samples):
    tree, expected = tree_of(samples)
    document = json.loads(json.dumps(speedscope(tree, name="x", unit="samples")))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    profile = document["profiles"][0]
    found = {
        tuple(names[f] for f in stack): weight
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True)
    }
    assert found == {stack or ("[no stack]",): weight for stack, weight in expected.items()}
    assert (profile["type"], profile["unit"], profile["endValue"]) == ("sampled", "none", sum(expected.values()))


@given(rows())
def test_prop_json_columns_rebuild_the_stacks(samples):
    tree, expected = tree_of(samples)
    document = json.loads(json.dumps(columns(tree, event="cpu", unit="samples")))
    nodes, names = document["nodes"], document["frames"]["name"]
    found: dict[tuple[str, ...], int] = {}
    for node, weight in enumerate(nodes["self"]):
        path, at = [], node
        while at > 0:
            path.append(names[nodes["frame"][at]])
            at = nodes["parent"][at]
        if weight:
            found[tuple(reversed(path))] = weight
    assert found == expected
    assert document["total"] == nodes["total"][0] == sum(expected.values())
