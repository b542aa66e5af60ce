"""All rules, one line each, by family: A time and cores, B skew, C memory, F plan and functions."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE

RULES: Final[tuple[Rule[Any], ...]] = (SKEWED_STAGE,)
