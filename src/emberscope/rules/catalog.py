"""All rules, one line each, by family."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.cache.cache_use import RULE as CACHE_USE
from emberscope.rules.cache.missing_cache import RULE as MISSING_CACHE
from emberscope.rules.conf.event_log_setup import RULE as EVENT_LOG_SETUP
from emberscope.rules.conf.java_serializer import RULE as JAVA_SERIALIZER
from emberscope.rules.conf.shuffle_keeper import RULE as SHUFFLE_KEEPER
from emberscope.rules.conf.wrong_settings import RULE as WRONG_SETTINGS
from emberscope.rules.executors.churn import RULE as CHURN
from emberscope.rules.executors.event_loss import RULE as EVENT_LOSS
from emberscope.rules.executors.lost_executors import RULE as LOST_EXECUTORS
from emberscope.rules.executors.retry_storm import RULE as RETRY_STORM
from emberscope.rules.executors.task_failures import RULE as TASK_FAILURES
from emberscope.rules.failure_catalog import FAILURE_RULES
from emberscope.rules.memory.broadcast_too_large import RULE as BROADCAST_TOO_LARGE
from emberscope.rules.memory.container_limit import RULE as CONTAINER_LIMIT
from emberscope.rules.memory.driver_heap import RULE as DRIVER_HEAP
from emberscope.rules.memory.execution_memory import RULE as EXECUTION_MEMORY
from emberscope.rules.memory.gc_pressure import RULE as GC_PRESSURE
from emberscope.rules.memory.heap_limit import RULE as HEAP_LIMIT
from emberscope.rules.memory.heap_oversized import RULE as HEAP_OVERSIZED
from emberscope.rules.memory.spill import RULE as SPILL
from emberscope.rules.plan.adaptive_off import RULE as ADAPTIVE_OFF
from emberscope.rules.plan.exploding_join import RULE as EXPLODING_JOIN
from emberscope.rules.plan.large_plan import RULE as LARGE_PLAN
from emberscope.rules.plan.long_filter import RULE as LONG_FILTER
from emberscope.rules.plan.native_fallback import RULE as NATIVE_FALLBACK
from emberscope.rules.plan.no_codegen import RULE as NO_CODEGEN
from emberscope.rules.plan.python_functions import RULE as PYTHON_FUNCTIONS
from emberscope.rules.plan.repeated_part import RULE as REPEATED_PART
from emberscope.rules.plan.row_blow_up import RULE as ROW_BLOW_UP
from emberscope.rules.plan.shuffled_join import RULE as SHUFFLED_JOIN
from emberscope.rules.plan.sort_fallback import RULE as SORT_FALLBACK
from emberscope.rules.shuffle.data_explosion import RULE as DATA_EXPLOSION
from emberscope.rules.shuffle.fetch_wait import RULE as FETCH_WAIT
from emberscope.rules.shuffle.huge_shuffle import RULE as HUGE_SHUFFLE
from emberscope.rules.shuffle.partition_size import RULE as PARTITION_SIZE
from emberscope.rules.shuffle.remote_to_disk import RULE as REMOTE_TO_DISK
from emberscope.rules.shuffle.tiny_blocks import RULE as TINY_BLOCKS
from emberscope.rules.shuffle.write_time import RULE as SHUFFLE_WRITE_TIME
from emberscope.rules.sizing.container_rounding import RULE as CONTAINER_ROUNDING
from emberscope.rules.sizing.extreme_values import RULE as EXTREME_VALUES
from emberscope.rules.sizing.glue_worker import RULE as GLUE_WORKER
from emberscope.rules.sizing.memory_per_core import RULE as MEMORY_PER_CORE
from emberscope.rules.sizing.node_packing import RULE as NODE_PACKING
from emberscope.rules.skew.executor_imbalance import RULE as EXECUTOR_IMBALANCE
from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE
from emberscope.rules.skew.slow_node import RULE as SLOW_NODE
from emberscope.rules.skew.slow_read import RULE as SLOW_READ
from emberscope.rules.skew.speculation import RULE as SPECULATION
from emberscope.rules.stacks.allocation import RULE as ALLOCATION
from emberscope.rules.stacks.boxed_values import RULE as BOXED_VALUES
from emberscope.rules.stacks.clients_per_row import RULE as CLIENTS_PER_ROW
from emberscope.rules.stacks.code_compilation import RULE as CODE_COMPILATION
from emberscope.rules.stacks.compiled_patterns import RULE as COMPILED_PATTERNS
from emberscope.rules.stacks.compression import RULE as COMPRESSION
from emberscope.rules.stacks.dates import RULE as DATES
from emberscope.rules.stacks.exceptions import RULE as EXCEPTIONS
from emberscope.rules.stacks.file_listing import RULE as FILE_LISTING
from emberscope.rules.stacks.formatted_strings import RULE as FORMATTED_STRINGS
from emberscope.rules.stacks.interpreted import RULE as INTERPRETED
from emberscope.rules.stacks.java_serialization import RULE as JAVA_SERIALIZATION
from emberscope.rules.stacks.json_parsing import RULE as JSON_PARSING
from emberscope.rules.stacks.large_numbers import RULE as LARGE_NUMBERS
from emberscope.rules.stacks.lock_contention import RULE as LOCK_CONTENTION
from emberscope.rules.stacks.logging import RULE as LOGGING
from emberscope.rules.stacks.objects_per_row import RULE as OBJECTS_PER_ROW
from emberscope.rules.stacks.python_start import RULE as PYTHON_START
from emberscope.rules.stacks.random_ids import RULE as RANDOM_IDS
from emberscope.rules.stacks.reflection import RULE as REFLECTION
from emberscope.rules.stacks.regular_expressions import RULE as REGULAR_EXPRESSIONS
from emberscope.rules.stacks.row_objects import RULE as ROW_OBJECTS
from emberscope.rules.stacks.string_hashes import RULE as STRING_HASHES
from emberscope.rules.storage.commit_phase import RULE as COMMIT_PHASE
from emberscope.rules.storage.full_scan import RULE as FULL_SCAN
from emberscope.rules.storage.jdbc_single_partition import RULE as JDBC_SINGLE_PARTITION
from emberscope.rules.storage.no_pushdown import RULE as NO_PUSHDOWN
from emberscope.rules.storage.single_task_write import RULE as SINGLE_TASK_WRITE
from emberscope.rules.storage.slow_metadata import RULE as SLOW_METADATA
from emberscope.rules.storage.small_files_read import RULE as SMALL_FILES_READ
from emberscope.rules.storage.small_files_written import RULE as SMALL_FILES_WRITTEN
from emberscope.rules.storage.split_size import RULE as SPLIT_SIZE
from emberscope.rules.streaming.streaming_query import RULE as STREAMING_QUERY
from emberscope.rules.time.critical_path import RULE as CRITICAL_PATH
from emberscope.rules.time.driver_bound import RULE as DRIVER_BOUND
from emberscope.rules.time.idle_cores import RULE as IDLE_CORES
from emberscope.rules.time.job_gaps import RULE as JOB_GAPS
from emberscope.rules.time.long_stage import RULE as LONG_STAGE
from emberscope.rules.time.low_parallelism import RULE as LOW_PARALLELISM
from emberscope.rules.time.serial_writes import RULE as SERIAL_WRITES
from emberscope.rules.time.single_task import RULE as SINGLE_TASK
from emberscope.rules.time.slow_ramp_up import RULE as SLOW_RAMP_UP
from emberscope.rules.time.task_overhead import RULE as TASK_OVERHEAD
from emberscope.rules.time.tiny_tasks import RULE as TINY_TASKS

RULES: Final[tuple[Rule[Any], ...]] = (
    # time
    DRIVER_BOUND,
    IDLE_CORES,
    CRITICAL_PATH,
    LOW_PARALLELISM,
    SINGLE_TASK,
    TINY_TASKS,
    JOB_GAPS,
    LONG_STAGE,
    TASK_OVERHEAD,
    SERIAL_WRITES,
    SLOW_RAMP_UP,
    # skew
    SKEWED_STAGE,
    SLOW_NODE,
    SLOW_READ,
    EXECUTOR_IMBALANCE,
    SPECULATION,
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
    FETCH_WAIT,
    SHUFFLE_WRITE_TIME,
    PARTITION_SIZE,
    DATA_EXPLOSION,
    HUGE_SHUFFLE,
    TINY_BLOCKS,
    REMOTE_TO_DISK,
    # storage
    SMALL_FILES_READ,
    SMALL_FILES_WRITTEN,
    SPLIT_SIZE,
    FULL_SCAN,
    NO_PUSHDOWN,
    SLOW_METADATA,
    JDBC_SINGLE_PARTITION,
    COMMIT_PHASE,
    SINGLE_TASK_WRITE,
    # plan
    SHUFFLED_JOIN,
    EXPLODING_JOIN,
    PYTHON_FUNCTIONS,
    LONG_FILTER,
    ADAPTIVE_OFF,
    REPEATED_PART,
    NO_CODEGEN,
    SORT_FALLBACK,
    ROW_BLOW_UP,
    NATIVE_FALLBACK,
    LARGE_PLAN,
    # cache
    CACHE_USE,
    MISSING_CACHE,
    # stacks
    COMPILED_PATTERNS,
    REGULAR_EXPRESSIONS,
    BOXED_VALUES,
    ROW_OBJECTS,
    OBJECTS_PER_ROW,
    CLIENTS_PER_ROW,
    JAVA_SERIALIZATION,
    DATES,
    FILE_LISTING,
    LOGGING,
    INTERPRETED,
    LOCK_CONTENTION,
    PYTHON_START,
    JSON_PARSING,
    COMPRESSION,
    EXCEPTIONS,
    ALLOCATION,
    STRING_HASHES,
    FORMATTED_STRINGS,
    REFLECTION,
    RANDOM_IDS,
    LARGE_NUMBERS,
    CODE_COMPILATION,
    # settings
    EXTREME_VALUES,
    JAVA_SERIALIZER,
    SHUFFLE_KEEPER,
    CONTAINER_ROUNDING,
    MEMORY_PER_CORE,
    NODE_PACKING,
    GLUE_WORKER,
    WRONG_SETTINGS,
    EVENT_LOG_SETUP,
    # streaming
    STREAMING_QUERY,
    # failures, emr, profilers, complaints
    *FAILURE_RULES,
)
