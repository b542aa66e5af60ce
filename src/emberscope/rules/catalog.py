"""All rules, one line each, by family: A time and cores, B skew, C memory, F plans and functions."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.memory.gc_pressure import RULE as GC_PRESSURE
from emberscope.rules.memory.spill import RULE as SPILL
from emberscope.rules.plan.python_functions import RULE as PYTHON_FUNCTIONS
from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE
from emberscope.rules.time.driver_bound import RULE as DRIVER_BOUND
from emberscope.rules.time.idle_cores import RULE as IDLE_CORES

RULES: Final[tuple[Rule[Any], ...]] = (
    DRIVER_BOUND,
    IDLE_CORES,
    SKEWED_STAGE,
    GC_PRESSURE,
    SPILL,
    PYTHON_FUNCTIONS,
)
