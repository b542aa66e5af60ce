"""Cores and memory of EC2 instance types by name, and the memory that EMR gives to YARN on each.

A family has one ratio of memory to cores, and the size says how many cores there are: names are computed, not listed.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from emberscope.errors import UsageError
from emberscope.units import parse_bytes

_GIB: Final = 1 << 30
_MIB: Final = 1 << 20

# Memory for each virtual core, in GiB, by the letters before the generation's digit; of old generations by both.
_GIB_PER_CORE: Final = {
    "c": 2.0,
    "m": 4.0,
    "r": 8.0,
    "z": 8.0,
    "i": 8.0,
    "is": 6.0,
    "im": 4.0,
    "d": 8.0,
    "h": 4.0,
    "g": 4.0,
    "x": 16.0,
    "c3": 1.875,
    "c4": 1.875,
    "m3": 3.75,
    "r3": 7.625,
    "r4": 7.625,
    "i2": 7.625,
    "i3": 7.625,
    "d2": 7.625,
    "x1": 15.25,
    "g3": 7.625,
    "c5n": 2.625,
    "d3en": 4.0,
    "g5g": 2.0,
    "g6e": 8.0,
    "i3en": 8.0,
}
# Sizes whose cores are not what their name says: cores, GiB.
_ODD: Final = {"c4.8xlarge": (36, 60.0), "d2.8xlarge": (36, 244.0)}
_OLDEST: Final = 3
"""Older generations of the families for all purposes have sizes of their own."""
_LEAST_OF_SIZE: Final = {"large": 2, "xlarge": 4}
_NAME: Final = re.compile(r"(?P<letters>[a-z]+)(?P<generation>\d)(?P<more>[a-z-]*)\.(?P<times>\d*)(?P<size>x?large)")
_PLAIN: Final = re.compile(r"(?P<cores>\d+)\s*[x:,]\s*(?P<memory>\d.*)")

# Extra letters that change the ratio: x2gd and x2idn have 16 GiB for each core, x2iedn and x1e twice as many.
_DOUBLE: Final = frozenset({("x1", "e"), ("x2", "iedn"), ("x2", "iezn")})

EMR_KEPT_BYTES: Final = 8 * _GIB
EMR_KEPT_RATIO: Final = 0.25


class Node(Struct, frozen=True):
    """One machine. `emr` is whether it has the name of an EC2 instance type."""

    name: str
    cores: int
    memory_bytes: int
    emr: bool

    @property
    def yarn_mib(self) -> int:
        """What EMR gives to YARN by default: all but 8 GiB, of small machines three quarters."""
        kept = min(EMR_KEPT_BYTES, self.memory_bytes * EMR_KEPT_RATIO)
        return int((self.memory_bytes - kept) // _MIB)


def node_of(text: str) -> Node:
    """The machine of an instance type (`r5.8xlarge`), or of cores and memory (`32x256g`). Raises `UsageError`."""
    name = text.strip().lower()
    if plain := _PLAIN.fullmatch(name):
        return Node(name, _positive(int(plain["cores"]), text), _positive(parse_bytes(plain["memory"]), text), False)
    if name in _ODD:
        cores, gib = _ODD[name]
        return Node(name, cores, int(gib * _GIB), True)
    found = _NAME.fullmatch(name)
    family = f"{found['letters']}{found['generation']}" if found else ""
    per_core = None
    if found:
        per_core = _GIB_PER_CORE.get(family + found["more"], _GIB_PER_CORE.get(family))
        if per_core is None and (found["letters"] not in "cgmr" or int(found["generation"]) >= _OLDEST):
            per_core = _GIB_PER_CORE.get(found["letters"])
    if found is None or per_core is None:
        raise UsageError(
            f"{text!r} is no instance type whose cores and memory are known here.",
            hint="Give cores and memory, as in 48x96g.",
        )
    if (family, found["more"]) in _DOUBLE:
        per_core *= 2
    cores = _LEAST_OF_SIZE[found["size"]] * int(found["times"] or 1)
    return Node(name, cores, int(cores * per_core * _GIB), True)


def _positive(number: int, text: str) -> int:
    if number <= 0:
        raise UsageError(f"{text!r} is no machine.", hint="Give cores and memory, as in 48x96g.")
    return number
