"""All tables, one line each."""

from typing import Final

from emberscope.tables.conf import CONF
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.frames import FRAMES
from emberscope.tables.jobs import JOBS
from emberscope.tables.marks import MARKS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.running_tasks import RUNNING_TASKS
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.tables.stacks import STACKS
from emberscope.tables.stages import STAGES
from emberscope.tables.table import Table
from emberscope.tables.tasks import TASKS

TABLES: Final[tuple[Table, ...]] = (
    TASKS,
    RUNNING_TASKS,
    STAGES,
    JOBS,
    EXECUTORS,
    SQL_EXECUTIONS,
    PLAN_NODES,
    PLAN_METRICS,
    CONF,
    SAMPLES,
    STACKS,
    FRAMES,
    SPANS,
    SERIES,
    MARKS,
)
