"""All rules, one line each, by family."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.cache.cache_use import RULE as CACHE_USE
from emberscope.rules.cache.missing_cache import RULE as MISSING_CACHE
from emberscope.rules.complaints.few_partitions import RULE as TOLD_FEW_PARTITIONS
from emberscope.rules.complaints.file_listing import RULE as TOLD_FILE_LISTING
from emberscope.rules.complaints.single_writer import RULE as TOLD_SINGLE_WRITER
from emberscope.rules.complaints.skew import RULE as TOLD_SKEW
from emberscope.rules.complaints.small_files import RULE as TOLD_SMALL_FILES
from emberscope.rules.complaints.small_partitions import RULE as TOLD_SMALL_PARTITIONS
from emberscope.rules.conf.event_log_setup import RULE as EVENT_LOG_SETUP
from emberscope.rules.conf.java_serializer import RULE as JAVA_SERIALIZER
from emberscope.rules.conf.shuffle_keeper import RULE as SHUFFLE_KEEPER
from emberscope.rules.conf.wrong_settings import RULE as WRONG_SETTINGS
from emberscope.rules.emr.cluster_mode import RULE as CLUSTER_MODE
from emberscope.rules.emr.emrfs_view import RULE as EMRFS_VIEW
from emberscope.rules.emr.event_log_place import RULE as EVENT_LOG_PLACE
from emberscope.rules.emr.history_server import RULE as HISTORY_SERVER
from emberscope.rules.emr.kafka_connections import RULE as KAFKA_CONNECTIONS
from emberscope.rules.emr.livy_start import RULE as LIVY_START
from emberscope.rules.emr.lost_logs import RULE as LOST_LOGS
from emberscope.rules.emr.lost_node import RULE as WHY_NODE_LOST
from emberscope.rules.emr.main_class import RULE as MAIN_CLASS
from emberscope.rules.emr.node_state import RULE as NODE_STATE
from emberscope.rules.emr.old_history import RULE as OLD_HISTORY
from emberscope.rules.emr.s3_connections import RULE as S3_CONNECTIONS
from emberscope.rules.emr.s3_denied import RULE as S3_DENIED
from emberscope.rules.emr.session_refused import RULE as SESSION_REFUSED
from emberscope.rules.emr.shrunk_splits import RULE as SHRUNK_SPLITS
from emberscope.rules.emr.shuffle_service import RULE as SHUFFLE_SERVICE
from emberscope.rules.emr.step_failed import RULE as STEP_FAILED
from emberscope.rules.emr.task_results import RULE as TASK_RESULTS
from emberscope.rules.emr.vcores_over import RULE as VCORES_OVER
from emberscope.rules.emr.yarn_libraries import RULE as YARN_LIBRARIES
from emberscope.rules.executors.churn import RULE as CHURN
from emberscope.rules.executors.event_loss import RULE as EVENT_LOSS
from emberscope.rules.executors.lost_executors import RULE as LOST_EXECUTORS
from emberscope.rules.executors.retry_storm import RULE as RETRY_STORM
from emberscope.rules.executors.task_failures import RULE as TASK_FAILURES
from emberscope.rules.failures.access_denied import RULE as ACCESS_DENIED
from emberscope.rules.failures.broadcast import RULE as BROADCAST_FAILED
from emberscope.rules.failures.code_too_large import RULE as CODE_TOO_LARGE
from emberscope.rules.failures.container_limit import RULE as YARN_CONTAINER_LIMIT
from emberscope.rules.failures.decommissioned import RULE as DECOMMISSIONED
from emberscope.rules.failures.deep_recursion import RULE as DEEP_RECURSION
from emberscope.rules.failures.direct_memory import RULE as DIRECT_MEMORY
from emberscope.rules.failures.disk_full import RULE as DISK_FULL
from emberscope.rules.failures.driver_silent import RULE as DRIVER_SILENT
from emberscope.rules.failures.error_condition import RULE as ERROR_CONDITION
from emberscope.rules.failures.evicted import RULE as EVICTED
from emberscope.rules.failures.failures_limit import RULE as FAILURES_LIMIT
from emberscope.rules.failures.fetch_failed import RULE as FETCH_FAILED
from emberscope.rules.failures.gc_full_heap import RULE as GC_FULL_HEAP
from emberscope.rules.failures.gc_long_pause import RULE as GC_LONG_PAUSE
from emberscope.rules.failures.heap import RULE as OUT_OF_MEMORY
from emberscope.rules.failures.heartbeat import RULE as LOST_CONTACT
from emberscope.rules.failures.image_pull import RULE as POD_NOT_STARTED
from emberscope.rules.failures.java_version import RULE as JAVA_VERSION
from emberscope.rules.failures.jvm_crash import RULE as JVM_CRASH
from emberscope.rules.failures.kryo import RULE as KRYO_BUFFER
from emberscope.rules.failures.large_frame import RULE as LARGE_FRAME
from emberscope.rules.failures.listener_queue import RULE as LISTENER_QUEUE
from emberscope.rules.failures.lost_node import RULE as LOST_NODE
from emberscope.rules.failures.metastore import RULE as METASTORE
from emberscope.rules.failures.missing_class import RULE as MISSING_CLASS
from emberscope.rules.failures.mixed_versions import RULE as MIXED_VERSIONS
from emberscope.rules.failures.native_memory import RULE as NATIVE_MEMORY
from emberscope.rules.failures.network import RULE as NETWORK
from emberscope.rules.failures.no_resources import RULE as NO_RESOURCES
from emberscope.rules.failures.operation import RULE as OUTSIDE_CAUSE
from emberscope.rules.failures.output_commit import RULE as OUTPUT_COMMIT
from emberscope.rules.failures.preempted import RULE as PREEMPTED
from emberscope.rules.failures.program_error import RULE as PROGRAM_ERROR
from emberscope.rules.failures.python_module import RULE as PYTHON_MODULE
from emberscope.rules.failures.python_worker import RULE as PYTHON_WORKER
from emberscope.rules.failures.result_size import RULE as RESULT_SIZE
from emberscope.rules.failures.streaming_checkpoint import RULE as STREAMING_CHECKPOINT
from emberscope.rules.failures.streaming_offsets import RULE as STREAMING_OFFSETS
from emberscope.rules.failures.table_conflict import RULE as TABLE_CONFLICT
from emberscope.rules.failures.task_serialization import RULE as TASK_SERIALIZATION
from emberscope.rules.failures.throttled import RULE as THROTTLED
from emberscope.rules.failures.ui_state import RULE as UI_STATE
from emberscope.rules.failures.unreadable_file import RULE as UNREADABLE_FILE
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
from emberscope.rules.profilers.agent_library import RULE as AGENT_LIBRARY
from emberscope.rules.profilers.allocation_tracing import RULE as ALLOCATION_TRACING
from emberscope.rules.profilers.attach import RULE as ATTACH
from emberscope.rules.profilers.event_log_tool import RULE as EVENT_LOG_TOOL
from emberscope.rules.profilers.frame_pointers import RULE as FRAME_POINTERS
from emberscope.rules.profilers.hardware_events import RULE as HARDWARE_EVENTS
from emberscope.rules.profilers.interpreted_frames import RULE as INTERPRETED_FRAMES
from emberscope.rules.profilers.jvm_option import RULE as JVM_OPTION
from emberscope.rules.profilers.kernel_events import RULE as KERNEL_EVENTS
from emberscope.rules.profilers.local_output import RULE as LOCAL_OUTPUT
from emberscope.rules.profilers.locked_memory import RULE as LOCKED_MEMORY
from emberscope.rules.profilers.open_files import RULE as OPEN_FILES
from emberscope.rules.profilers.output_path import RULE as OUTPUT_PATH
from emberscope.rules.profilers.perf_map import RULE as PERF_MAP
from emberscope.rules.profilers.perf_users import RULE as PERF_USERS
from emberscope.rules.profilers.profile_upload import RULE as PROFILE_UPLOAD
from emberscope.rules.profilers.profiler_crash import RULE as PROFILER_CRASH
from emberscope.rules.profilers.python_attach import RULE as PYTHON_ATTACH
from emberscope.rules.profilers.python_profiler import RULE as PYTHON_PROFILER
from emberscope.rules.profilers.samples_lost import RULE as SAMPLES_LOST
from emberscope.rules.profilers.shared_output import RULE as SHARED_OUTPUT
from emberscope.rules.profilers.spark_profiler import RULE as SPARK_PROFILER
from emberscope.rules.profilers.unfinished_recording import RULE as UNFINISHED_RECORDING
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
    # emr
    KAFKA_CONNECTIONS,
    TASK_RESULTS,
    EVENT_LOG_PLACE,
    HISTORY_SERVER,
    STEP_FAILED,
    LOST_LOGS,
    OLD_HISTORY,
    SESSION_REFUSED,
    LIVY_START,
    NODE_STATE,
    MAIN_CLASS,
    S3_DENIED,
    CLUSTER_MODE,
    SHUFFLE_SERVICE,
    WHY_NODE_LOST,
    YARN_LIBRARIES,
    VCORES_OVER,
    SHRUNK_SPLITS,
    EMRFS_VIEW,
    S3_CONNECTIONS,
    # failures
    JVM_CRASH,
    NATIVE_MEMORY,
    GC_FULL_HEAP,
    GC_LONG_PAUSE,
    # profilers
    KERNEL_EVENTS,
    LOCKED_MEMORY,
    OPEN_FILES,
    UNFINISHED_RECORDING,
    SHARED_OUTPUT,
    OUTPUT_PATH,
    AGENT_LIBRARY,
    ATTACH,
    PROFILE_UPLOAD,
    SPARK_PROFILER,
    LOCAL_OUTPUT,
    PERF_MAP,
    INTERPRETED_FRAMES,
    FRAME_POINTERS,
    PERF_USERS,
    PYTHON_ATTACH,
    PROFILER_CRASH,
    JVM_OPTION,
    SAMPLES_LOST,
    EVENT_LOG_TOOL,
    ALLOCATION_TRACING,
    PYTHON_PROFILER,
    HARDWARE_EVENTS,
    # failures
    YARN_CONTAINER_LIMIT,
    OUT_OF_MEMORY,
    BROADCAST_FAILED,
    RESULT_SIZE,
    KRYO_BUFFER,
    PYTHON_WORKER,
    # failures
    LOST_NODE,
    FETCH_FAILED,
    LOST_CONTACT,
    DRIVER_SILENT,
    THROTTLED,
    ACCESS_DENIED,
    METASTORE,
    NO_RESOURCES,
    FAILURES_LIMIT,
    PREEMPTED,
    NETWORK,
    OUTSIDE_CAUSE,
    EVICTED,
    POD_NOT_STARTED,
    DECOMMISSIONED,
    LARGE_FRAME,
    DIRECT_MEMORY,
    # failures by code and data
    DISK_FULL,
    MISSING_CLASS,
    TASK_SERIALIZATION,
    UNREADABLE_FILE,
    OUTPUT_COMMIT,
    TABLE_CONFLICT,
    ERROR_CONDITION,
    LISTENER_QUEUE,
    JAVA_VERSION,
    PROGRAM_ERROR,
    PYTHON_MODULE,
    DEEP_RECURSION,
    CODE_TOO_LARGE,
    UI_STATE,
    MIXED_VERSIONS,
    STREAMING_OFFSETS,
    STREAMING_CHECKPOINT,
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
    # complaints
    TOLD_SKEW,
    TOLD_SMALL_PARTITIONS,
    TOLD_FEW_PARTITIONS,
    TOLD_SINGLE_WRITER,
    TOLD_SMALL_FILES,
    TOLD_FILE_LISTING,
)
