"""All tables, one line each."""

from typing import Final

from emberscope.tables.accumulables import ACCUMULABLES
from emberscope.tables.conf import CONF
from emberscope.tables.executor_events import EXECUTOR_EVENTS
from emberscope.tables.executor_metrics import EXECUTOR_METRICS
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.frames import FRAMES
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.jobs import JOBS
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.marks import MARKS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.resource_profiles import RESOURCE_PROFILES
from emberscope.tables.running_tasks import RUNNING_TASKS
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.sessions import SESSIONS
from emberscope.tables.spans import SPANS
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.tables.stacks import STACKS
from emberscope.tables.stages import STAGES
from emberscope.tables.statements import STATEMENTS
from emberscope.tables.storage import STORAGE
from emberscope.tables.storage_blocks import STORAGE_BLOCKS
from emberscope.tables.streaming_batches import STREAMING_BATCHES
from emberscope.tables.streaming_queries import STREAMING_QUERIES
from emberscope.tables.table import Table
from emberscope.tables.task_accumulables import TASK_ACCUMULABLES
from emberscope.tables.tasks import TASKS

TABLES: Final[tuple[Table, ...]] = (
    TASKS,
    RUNNING_TASKS,
    STAGES,
    JOBS,
    ACCUMULABLES,
    EXECUTORS,
    EXECUTOR_EVENTS,
    EXECUTOR_METRICS,
    RESOURCE_PROFILES,
    STORAGE,
    STORAGE_BLOCKS,
    SQL_EXECUTIONS,
    PLAN_NODES,
    PLAN_METRICS,
    TASK_ACCUMULABLES,
    STREAMING_QUERIES,
    STREAMING_BATCHES,
    SESSIONS,
    STATEMENTS,
    CONF,
    SAMPLES,
    STACKS,
    FRAMES,
    SPANS,
    SERIES,
    MARKS,
    LOG_EVENTS,
    HEAP_CLASSES,
)
