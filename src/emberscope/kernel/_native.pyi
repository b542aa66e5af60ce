"""The kernel in C, and at the same time what `emberscope.kernel.plain` has to do in Python: the same results.

`Ints` are bytes, or any contiguous buffer whose items are single bytes or as wide as those of the format named: they
are taken as native integers. Items of another width raise `TypeError`, bytes that are no whole number of items
`ValueError`. Numbers that do not fit 64 bits are as keys that are not there.
"""

from collections.abc import Mapping, Sequence
from typing import Final

ABI: Final[int]

Ints = memoryview | bytes | bytearray

class Lines:
    """Rows of integers of lines that are JSON objects, by a program (`emberscope.kernel.members`).

    It never changes: any number of threads may use one. Raises `ValueError` or `TypeError` for a bad program.
    """

    def __init__(
        self, kinds: Sequence[tuple[bytes, Ints, Sequence[Sequence[tuple[bytes, int, int, int, bytes, bool]]]]]
    ) -> None: ...
    def scan(self, text: bytes) -> tuple[int, list[memoryview], list[str], memoryview]:
        """The number of lines, the rows of each kind one after the other (format q), the texts that they number, and
        the other lines: number from 1, start and end of each (format q). Without the GIL.

        A line ends with a line feed, the last one perhaps without. Of a kind are lines that begin with its prefix (the
        first that fits) and a comma, and whose object is strict JSON without spaces, with all that must be there, each
        wanted member once and as its action wants it. All else is left to the caller, among it what is JSON but
        unusual: numbers with exponents or more than 40 characters, lone surrogates, escapes in keys, keys and texts of
        more than 65535 bytes, more than 32 levels of what is not wanted, and what would be text number 4096.
        Bytes that are no UTF-8 are not looked for in strings that are not wanted.
        """

class Decoder:
    """Columns of the records of one chunk. One thread at a time may use it; different ones run side by side.

    `data` is held (buffer protocol) and never copied (in Python: where it is bytes); positions are within it.
    `compressed` is the chunk's flag.

    A value must lie within its record's bounds: the end of its event. An array's count and a string's length (bytes, or
    units in encoding 4) that is negative or more than the bytes left there is a fault, even of elements that take no
    bytes; so is an unknown encoding of a string. Values that are skipped are checked as those that are kept.
    """

    def __init__(self, data: bytes | memoryview, compressed: bool) -> None: ...
    def program(self, type_id: int, ops: Sequence[int]) -> None:
        """Decode records of this type by these operations (`emberscope.kernel.ops`).

        Raises `ValueError` for bad ones: no list of triples; an unknown operation; a column used twice, below -1 or not
        below `MAX_OPS`; a length that is not the element's or not 0; more than `MAX_OPS` operations (elements' counted)
        or `MAX_NESTING` arrays within each other; a type that has a program or does not fit 64 bits. An array whose
        counts are skipped may have elements that are kept.
        """
    def events(self, start: int, limit: int, known: frozenset[int] | None) -> int:
        """Count the events from `start` on, and append those with a program to their columns, without the GIL.

        Gives back where it stopped: `limit` or beyond, or the position of an event that cannot be right: its size is
        less than 2 or reaches beyond the data; or its type is not in `known` (None: every type is good), none of that
        type was accepted before (in this call or an earlier one), and neither the end (exactly `limit`) nor an event of
        a known type with a possible size follows it. An event may reach beyond `limit`, and its head (size as INT, type
        as LONG) beyond its own size, but not beyond the data. Types 0 and 1 are known only if `known` holds them.

        Events of types 0 and 1 are counted, noted in `positions` and not decoded. An event that has a possible size and
        does not decode within it, or whose head is longer than it, is counted in `broken` and leaves no values. Bytes
        left over at its end are good.

        May be called again with another start; columns and counts go on. Raises `ValueError` for a negative `start`.
        """
    def checkpoints(self, positions: Sequence[int]) -> list[tuple[int, str]]:
        """Append the pools' records of the checkpoint events at these positions, without the GIL.

        A record is what the type's program says, its key first. A checkpoint that goes wrong is left at the record
        where it does: its records before stay, and (position, reason) of it is in the result. The reasons: `no
        checkpoint` (another type, no possible size, or outside the data), `the head is cut`, `impossible number of
        pools`, `the head of a pool is cut`, `constants of type N, which has no program`, `impossible number of
        constants of type N` (more than bytes are left, or negative), `a constant of type N cannot be read`.
        """
    def counts(self) -> dict[int, int]:
        """Events accepted so far by type id, types 0 and 1 and broken ones among them."""
    def positions(self, type_id: int) -> list[int]:
        """Positions of the events of type 0 (metadata) or 1 (checkpoints) accepted so far, as met.

        Raises `ValueError` for other types.
        """
    def broken(self, type_id: int) -> int:
        """How many events of this type could not be decoded; 0 without a program."""
    def rows(self, type_id: int) -> int:
        """How many records of this type were decoded (events or pool entries); 0 without a program."""
    def column(self, type_id: int, column: int) -> memoryview:
        """A numeric column as a flat memoryview of format q i h H b B f d; of an ARRAY column its lengths, format q.

        The values of an array's elements lie one after the other, as many as the lengths sum to. Floats have the bits
        of the file. The memory is the decoder's and is kept alive by the view; decoding more into a type while a view
        of it lives raises `BufferError`, after which the decoder is of no more use. Raises `KeyError` for a column that
        is not there, `TypeError` for a STRING column.
        """
    def strings(self, type_id: int, column: int, pool: tuple[int, int] | None) -> list[str | None]:
        """A STRING column. `pool` is (type id, column) of java.lang.String, in which references are looked up.

        Bytes that are no UTF-8 (as many as Python's `replace` makes of them) and surrogates without partner become
        U+FFFD; a reference that leads nowhere, to null or to another reference is None. Raises `KeyError` for a column
        that is not there, the pool's too, `TypeError` for one that is not STRING, and for a pool's within an array.
        """
    def lookup(self, type_id: int, keys: Ints) -> memoryview:
        """Rows of the pool records with these keys (format q), format i; -1 where there is none.

        A pool's column 0 holds its keys; of several records with one key the last one decoded counts. A type without a
        program, or whose column 0 is not LONG or within an array, has no keys.
        """

class Stacks:
    """The stack traces of one chunk as a local prefix tree, built where they are asked for.

    Columns by number: `trace` = (type id, truncated or -1, frames' lengths, method, frame type or -1, line or -1),
    `method` = (type id, class, name), `klass` = (type id, name), `symbol` = (type id, string),
    `pool` as for `Decoder.strings`. `kinds` maps keys of frame types to small numbers (0 for all others, and for all
    frames where there is no such column). The decoder must not decode on while this lives.

    A type without a program is an empty pool. Otherwise raises `KeyError` for a column that is not there, `TypeError`
    for one of another operation (truncated BOOLEAN, lengths ARRAY, line INT, string STRING, else LONG) or within an
    array where a record's is needed, `ValueError` for frames that are not as many as the lengths sum to, and for kinds
    that are not within 0 to 255.
    """

    def __init__(
        self,
        decoder: Decoder,
        trace: tuple[int, int, int, int, int, int],
        method: tuple[int, int, int],
        klass: tuple[int, int],
        symbol: tuple[int, int],
        pool: tuple[int, int] | None,
        kinds: Mapping[int, int],
    ) -> None: ...
    def nodes(self, keys: Ints) -> tuple[memoryview, memoryview]:
        """For keys of stack traces (format q): local nodes (format i) and flags (format B), without the GIL.

        Node 0 is the root: no stack. Frames are in the file leaf first, in the tree root first. A truncated trace
        stands under a frame of its own, `TRUNCATED`. Flags: 1 truncated, 2 unresolved (a key that is not 0 and leads to
        no trace: node 0; or a frame whose method or method name is not there), 4 no stack (key 0, whatever the pool has
        for it, or a trace without frames: node 0, truncated or not).
        Nodes and local frames are numbered in the order in which they are first met, each trace root first. Equal
        (parent, frame) are one node; frames are equal by method key, kind and line (0 where there is no such column).
        """
    def size(self) -> int:
        """Nodes so far, the root among them."""
    def leaves(self, nodes: Ints) -> list[tuple[str, str, int]]:
        """(class, method, how often) of the frames at these local nodes (format i); nodes 0 and the frame
        `TRUNCATED` are left out. Distinct by class and method, most frequent first, ties by class, then method.
        What is not there is "". Raises `IndexError` for a node that is not there.
        """

class Tree:
    """A prefix tree over many chunks: nodes by (parent, frame id), and which raw frames have which id.

    Node 0 is the root, parent -1, frame -1. A node's parent has a smaller number. A frame id that is not within 0 to
    2**31 - 1 raises `ValueError`, a node or local frame that is not there `IndexError`.
    """

    def __init__(self) -> None: ...
    def unknown(self, stacks: Stacks) -> list[tuple[int, str | None, str | None, int, int]]:
        """Frames of these stacks that have no id yet: (local frame, class, method, kind, line), in local order.

        Class as the file spells it ('/' between packages), None where it is not there; method None where it is not
        there: an unresolved frame; both None and kind -1: the frame `TRUNCATED`. Line 0 where lines are not read.
        One entry, the first, for equal frames of this call's stacks.
        """
    def learn(self, stacks: Stacks, local_frame: int, frame: int) -> None:
        """From now on frames that are equal (class, method, kind, line) to this one of `stacks` have the id `frame`."""
    def graft(self, stacks: Stacks) -> memoryview:
        """Nodes of this tree (format i) for all local nodes.

        Raises `KeyError` where a frame is unknown; nothing is grafted then.
        """
    def child(self, parent: int, frame: int) -> int: ...
    def node(self, frames_root_first: Sequence[int]) -> int: ...
    def size(self) -> int: ...
    def parents(self) -> memoryview:
        """Format i. A copy: the tree may grow on."""
    def frames(self) -> memoryview: ...

def elements(body: bytes | memoryview, compressed: bool) -> list[tuple[int, str, tuple[str, ...]]]:
    """A metadata event from its string count on, as (depth, element, (key, value, key, value…)), in its order.

    Strings that are null or references are "". Bytes after the first element of depth 0 and all within it are ignored.
    Raises `ValueError` for what cannot be right: an index beyond the strings, a count beyond the bytes, a depth over
    16, a cut.
    """

def where(keys: Ints, accepted: frozenset[int]) -> memoryview:
    """Numbers (format i) of the rows whose key (format q) is one of `accepted`."""

def tally(nodes: Ints, weights: Ints | None, rows: Ints | None, size: int) -> memoryview:
    """Sum of weights (format q; None: 1 each) by node (format i), format q, length `size`. `rows` (format i) limits it
    to some rows. Sums are held at the bounds of 64 bits at each addition, in the order of the rows.

    Raises `IndexError` for a row that is not there and for a node not below `size` in a row that counts, `ValueError`
    for lengths that differ.
    """

def add(into: memoryview, nodes: Ints, weights: Ints) -> None:
    """into[nodes[i]] += weights[i]: formats q, i, q; held at the bounds of 64 bits.

    Raises, before anything is added, `IndexError` for a node that is not there, `ValueError` for lengths that differ,
    `BufferError` if `into` cannot be written to.
    """

def folded(parents: Ints, frames: Ints, weights: Ints, names: Sequence[str]) -> bytes:
    """The stacks that carry weight as folded text in UTF-8, depth first, of siblings the one with more weight through
    it first (held at the bounds of 64 bits), ties by the bytes of the name, then by number.

    Parents and frames have format i, weights q (own weight of a node, never negative). The weight of node 0 is a first
    line `[no stack] N`. Lone surrogates in names become `?`; else names are written as they are: who gives them sees to
    `;` and line ends. Raises `ValueError` for lengths that differ, a negative weight and a parent that is not before
    its node, `IndexError` for a frame without a name, node 0's parent and frame excepted.
    """

def xxh32(data: bytes, seed: int, /) -> int:
    """The checksum of the data (32 bits) as lz4-java takes it of its blocks, without the GIL."""
