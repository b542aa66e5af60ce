"""All rules, one line each, by family."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.executors.churn import RULE as CHURN
from emberscope.rules.executors.event_loss import RULE as EVENT_LOSS
from emberscope.rules.executors.lost_executors import RULE as LOST_EXECUTORS
from emberscope.rules.executors.retry_storm import RULE as RETRY_STORM
from emberscope.rules.executors.task_failures import RULE as TASK_FAILURES
from emberscope.rules.memory.broadcast_too_large import RULE as BROADCAST_TOO_LARGE
from emberscope.rules.memory.container_limit import RULE as CONTAINER_LIMIT
from emberscope.rules.memory.driver_heap import RULE as DRIVER_HEAP
from emberscope.rules.memory.execution_memory import RULE as EXECUTION_MEMORY
from emberscope.rules.memory.gc_pressure import RULE as GC_PRESSURE
from emberscope.rules.memory.heap_limit import RULE as HEAP_LIMIT
from emberscope.rules.memory.heap_oversized import RULE as HEAP_OVERSIZED
from emberscope.rules.memory.spill import RULE as SPILL
from emberscope.rules.plan.python_functions import RULE as PYTHON_FUNCTIONS
from emberscope.rules.skew.executor_imbalance import RULE as EXECUTOR_IMBALANCE
from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE
from emberscope.rules.skew.slow_node import RULE as SLOW_NODE
from emberscope.rules.time.driver_bound import RULE as DRIVER_BOUND
from emberscope.rules.time.idle_cores import RULE as IDLE_CORES

RULES: Final[tuple[Rule[Any], ...]] = (
    # time
    DRIVER_BOUND,
    IDLE_CORES,
    # skew
    SKEWED_STAGE,
    SLOW_NODE,
    EXECUTOR_IMBALANCE,
    # executors
    CHURN,
    LOST_EXECUTORS,
    TASK_FAILURES,
    RETRY_STORM,
    EVENT_LOSS,
    # memory
    GC_PRESSURE,
    SPILL,
    HEAP_OVERSIZED,
    HEAP_LIMIT,
    CONTAINER_LIMIT,
    DRIVER_HEAP,
    BROADCAST_TOO_LARGE,
    EXECUTION_MEMORY,
    # shuffle
    # storage
    # plan
    PYTHON_FUNCTIONS,
    # cache
    # stacks
    # settings
    # streaming
)
