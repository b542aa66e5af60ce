"""A call tree of a size that is asked for, and the files that each viewer reads it from.

The tree is made up, and always the same for a size. Stacks walk up and down at random around a depth of 40, names look
like those of a JVM and come in very different numbers, no node has two children of one name: collapsed stacks hold all
of it. It is harsher than a profile: a real one has fatter frames at its top.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PACKAGES = (
    "org.apache.spark.sql.execution",
    "org.apache.spark.sql.catalyst.expressions",
    "org.apache.spark.scheduler",
    "org.apache.spark.shuffle.sort",
    "org.apache.spark.unsafe.map",
    "org.apache.parquet.column.values",
    "org.apache.hadoop.fs.s3a",
    "com.example.orders",
    "com.fasterxml.jackson.core",
    "io.netty.channel",
    "java.util.concurrent",
    "net.jpountz.lz4",
    "scala.collection.immutable",
)
_WORDS = (
    *("Aggregate", "Batch", "Block", "Buffer", "Codec", "Column", "Filter", "Hash"),
    *("Join", "Memory", "Page", "Plan", "Row", "Shuffle", "Sort", "Task", "Window"),
)
_METHODS = (
    *("append", "apply", "call", "compare", "decode", "encode", "flush", "get"),
    *("hasNext", "insert", "lookup", "merge", "next", "read", "run", "spill", "write"),
)
_DEEPEST = 120


@dataclass(frozen=True)
class Tree:
    """Nodes depth first, without the root: depth (1 is outermost), name and self weight of each."""

    names: list[str]
    depths: list[int]
    frames: list[int]
    selfs: list[int]


def make_tree(size: int) -> Tree:
    """`size` nodes besides the root."""
    chance = random.Random(7)
    names = _names(chance, min(20_000, max(3_000, size // 20)))
    # Few names stand at very many nodes: a Pareto distribution.
    picks = [int((chance.paretovariate(0.9) - 1) * 8) for _ in range(1 << 16)]
    depths: list[int] = []
    frames: list[int] = []
    taken: list[set[int]] = [set() for _ in range(_DEEPEST + 1)]
    depth = 0
    random_01 = chance.random
    for _ in range(size):
        if depth == 0 or (depth < _DEEPEST and random_01() < 0.88 - 0.4 * depth / 70):
            depth += 1
            taken[depth].clear()
        else:
            up = int(random_01() * depth) if random_01() < 0.004 else int(chance.expovariate(0.45))
            depth = max(1, depth - up)
        siblings = taken[depth]
        frame = (picks[int(random_01() * 65536)] * 2654435761 + depth * 97) % len(names)
        while frame in siblings:
            frame = int(random_01() * len(names))
        siblings.add(frame)
        depths.append(depth)
        frames.append(frame)
    selfs = [0] * size
    for node in range(size):
        if node + 1 == size or depths[node + 1] <= depths[node]:
            selfs[node] = min(5_000, int(chance.paretovariate(1.1)))
        elif random_01() < 0.06:
            selfs[node] = 1
    return Tree(names, depths, frames, selfs)


def _names(chance: random.Random, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        words = "".join(chance.choice(_WORDS) for _ in range(3))
        names[f"{chance.choice(_PACKAGES)}.{words}${chance.randint(1, 9)}.{chance.choice(_METHODS)}"] = None
    return list(names)


def write_collapsed(tree: Tree, path: Path) -> None:
    """`outermost;...;leaf weight`: what async-profiler's converter and emberscope read."""
    stack = [""] * (_DEEPEST + 1)
    with path.open("w", encoding="utf-8") as out:
        for depth, frame, weight in zip(tree.depths, tree.frames, tree.selfs, strict=True):
            stack[depth - 1] = tree.names[frame]
            if weight:
                out.write(f"{';'.join(stack[:depth])} {weight}\n")


def write_evented(tree: Tree, path: Path) -> None:
    """A profile of speedscope in its form "evented", which is the smaller of its two for a tree."""
    events: list[str] = []
    open_frames: list[int] = []
    at = 0

    def close(depth: int) -> None:
        while len(open_frames) > depth:
            events.append(f'{{"type":"C","frame":{open_frames.pop()},"at":{at}}}')

    for depth, frame, weight in zip(tree.depths, tree.frames, tree.selfs, strict=True):
        close(depth - 1)
        events.append(f'{{"type":"O","frame":{frame},"at":{at}}}')
        open_frames.append(frame)
        at += weight
    close(0)
    head = {"$schema": "https://www.speedscope.app/file-format-schema.json", "name": "tree"}
    frames = json.dumps({"frames": [{"name": name} for name in tree.names]})
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head)[:-1] + f',"shared":{frames},"profiles":[{{"type":"evented","name":"tree",')
        out.write(f'"unit":"none","startValue":0,"endValue":{at},"events":[{",".join(events)}]}}]}}')


def write_nested(tree: Tree, path: Path) -> None:
    """Objects in objects, as d3-flame-graph takes them: `{"name":, "value":, "children": []}`."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(_nested(tree))


def _nested(tree: Tree) -> Iterator[str]:
    totals = list(tree.selfs)
    size = len(totals)
    path: list[int] = []
    callers = [-1] * size
    for node, depth in enumerate(tree.depths):
        del path[depth - 1 :]
        callers[node] = path[-1] if path else -1
        path.append(node)
    for node in range(size - 1, -1, -1):
        if callers[node] >= 0:
            totals[callers[node]] += totals[node]
    names = [json.dumps(name) for name in tree.names]
    yield f'{{"name":"all","value":{sum(tree.selfs)},"children":['
    for node, depth in enumerate(tree.depths):
        yield f'{{"name":{names[tree.frames[node]]},"value":{totals[node]}'
        next_depth = tree.depths[node + 1] if node + 1 < size else 0
        if next_depth > depth:
            yield ',"children":['
        else:
            yield "}" + "]}" * (depth - next_depth) + ("," if next_depth else "")
