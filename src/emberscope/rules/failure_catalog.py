"""Rules of what logs and questions say, one line each, by family; part of the catalogue."""

from typing import Any, Final

from emberscope.rules.base import Rule
from emberscope.rules.complaints.broadcast_join import RULE as TOLD_BROADCAST_JOIN
from emberscope.rules.complaints.cache_size import RULE as TOLD_CACHE_SIZE
from emberscope.rules.complaints.cluster_cost import RULE as TOLD_CLUSTER_COST
from emberscope.rules.complaints.coalesced_stage import RULE as TOLD_COALESCE
from emberscope.rules.complaints.cross_join import RULE as TOLD_CROSS_JOIN
from emberscope.rules.complaints.distinct_count import RULE as TOLD_DISTINCT_COUNT
from emberscope.rules.complaints.executor_metrics import RULE as TOLD_EXECUTOR_METRICS
from emberscope.rules.complaints.executor_shape import RULE as TOLD_EXECUTOR_SHAPE
from emberscope.rules.complaints.few_executors import RULE as TOLD_FEW_EXECUTORS
from emberscope.rules.complaints.few_partitions import RULE as TOLD_FEW_PARTITIONS
from emberscope.rules.complaints.file_listing import RULE as TOLD_FILE_LISTING
from emberscope.rules.complaints.first_query import RULE as TOLD_FIRST_QUERY
from emberscope.rules.complaints.gc_time import RULE as TOLD_GC_TIME
from emberscope.rules.complaints.global_sort import RULE as TOLD_GLOBAL_SORT
from emberscope.rules.complaints.grouped_values import RULE as TOLD_GROUPED_VALUES
from emberscope.rules.complaints.growing_plan import RULE as TOLD_GROWING_PLAN
from emberscope.rules.complaints.history_listing import RULE as TOLD_HISTORY_LISTING
from emberscope.rules.complaints.idle_executors import RULE as TOLD_IDLE_EXECUTORS
from emberscope.rules.complaints.incomplete_application import RULE as TOLD_INCOMPLETE_APPLICATION
from emberscope.rules.complaints.jdbc_read import RULE as TOLD_JDBC_READ
from emberscope.rules.complaints.jdbc_write import RULE as TOLD_JDBC_WRITE
from emberscope.rules.complaints.job_loop import RULE as TOLD_JOB_LOOP
from emberscope.rules.complaints.local_memory import RULE as TOLD_LOCAL_MEMORY
from emberscope.rules.complaints.multiplied_rows import RULE as TOLD_MULTIPLIED_ROWS
from emberscope.rules.complaints.overwritten_partitions import RULE as TOLD_OVERWRITTEN_PARTITIONS
from emberscope.rules.complaints.partition_number import RULE as TOLD_PARTITION_NUMBER
from emberscope.rules.complaints.partition_pruning import RULE as TOLD_PRUNING
from emberscope.rules.complaints.planning import RULE as TOLD_PLANNING
from emberscope.rules.complaints.python_udf import RULE as TOLD_PYTHON_UDF
from emberscope.rules.complaints.recomputed import RULE as TOLD_RECOMPUTED
from emberscope.rules.complaints.schema_inference import RULE as TOLD_SCHEMA_INFERENCE
from emberscope.rules.complaints.shared_application import RULE as TOLD_SHARED_APPLICATION
from emberscope.rules.complaints.single_writer import RULE as TOLD_SINGLE_WRITER
from emberscope.rules.complaints.skew import RULE as TOLD_SKEW
from emberscope.rules.complaints.slow_commit import RULE as TOLD_SLOW_COMMIT
from emberscope.rules.complaints.slow_lines import RULE as TOLD_SLOW_LINES
from emberscope.rules.complaints.slow_machine import RULE as TOLD_SLOW_MACHINE
from emberscope.rules.complaints.small_files import RULE as TOLD_SMALL_FILES
from emberscope.rules.complaints.small_partitions import RULE as TOLD_SMALL_PARTITIONS
from emberscope.rules.complaints.spill import RULE as TOLD_SPILL
from emberscope.rules.complaints.stream_lag import RULE as TOLD_STREAM_LAG
from emberscope.rules.complaints.table_merge import RULE as TOLD_MERGE
from emberscope.rules.complaints.time_zone import RULE as TOLD_TIME_ZONE
from emberscope.rules.complaints.to_pandas import RULE as TOLD_TO_PANDAS
from emberscope.rules.complaints.unknown_frames import RULE as TOLD_UNKNOWN_FRAMES
from emberscope.rules.complaints.window_partition import RULE as TOLD_WINDOW
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
from emberscope.rules.failures.access_denied import RULE as ACCESS_DENIED
from emberscope.rules.failures.broadcast import RULE as BROADCAST_FAILED
from emberscope.rules.failures.code_too_large import RULE as CODE_TOO_LARGE
from emberscope.rules.failures.container_limit import RULE as YARN_CONTAINER_LIMIT
from emberscope.rules.failures.decommissioned import RULE as DECOMMISSIONED
from emberscope.rules.failures.deep_recursion import RULE as DEEP_RECURSION
from emberscope.rules.failures.direct_memory import RULE as DIRECT_MEMORY
from emberscope.rules.failures.disk_full import RULE as DISK_FULL
from emberscope.rules.failures.driver_restarted import RULE as DRIVER_RESTARTED
from emberscope.rules.failures.driver_silent import RULE as DRIVER_SILENT
from emberscope.rules.failures.error_condition import RULE as ERROR_CONDITION
from emberscope.rules.failures.evicted import RULE as EVICTED
from emberscope.rules.failures.exit_code import RULE as EXIT_CODE
from emberscope.rules.failures.failures_limit import RULE as FAILURES_LIMIT
from emberscope.rules.failures.fetch_failed import RULE as FETCH_FAILED
from emberscope.rules.failures.gc_full_heap import RULE as GC_FULL_HEAP
from emberscope.rules.failures.gc_long_pause import RULE as GC_LONG_PAUSE
from emberscope.rules.failures.heap import RULE as OUT_OF_MEMORY
from emberscope.rules.failures.heap_reader import RULE as LOG_READER_HEAP
from emberscope.rules.failures.heartbeat import RULE as LOST_CONTACT
from emberscope.rules.failures.image_pull import RULE as POD_NOT_STARTED
from emberscope.rules.failures.java_version import RULE as JAVA_VERSION
from emberscope.rules.failures.jvm_crash import RULE as JVM_CRASH
from emberscope.rules.failures.killed import RULE as KILLED
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
from emberscope.rules.failures.terminated import RULE as TERMINATED
from emberscope.rules.failures.throttled import RULE as THROTTLED
from emberscope.rules.failures.ui_state import RULE as UI_STATE
from emberscope.rules.failures.unreadable_file import RULE as UNREADABLE_FILE
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

FAILURE_RULES: Final[tuple[Rule[Any], ...]] = (
    # failures
    JVM_CRASH,
    NATIVE_MEMORY,
    GC_FULL_HEAP,
    GC_LONG_PAUSE,
    YARN_CONTAINER_LIMIT,
    KILLED,
    TERMINATED,
    EXIT_CODE,
    OUT_OF_MEMORY,
    LOG_READER_HEAP,
    BROADCAST_FAILED,
    RESULT_SIZE,
    KRYO_BUFFER,
    PYTHON_WORKER,
    LOST_NODE,
    FETCH_FAILED,
    LOST_CONTACT,
    DRIVER_SILENT,
    DRIVER_RESTARTED,
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
    # complaints
    TOLD_SKEW,
    TOLD_SMALL_PARTITIONS,
    TOLD_FEW_PARTITIONS,
    TOLD_SINGLE_WRITER,
    TOLD_SMALL_FILES,
    TOLD_FILE_LISTING,
    TOLD_SLOW_COMMIT,
    TOLD_JDBC_READ,
    TOLD_TO_PANDAS,
    TOLD_FEW_EXECUTORS,
    TOLD_PYTHON_UDF,
    TOLD_GC_TIME,
    TOLD_IDLE_EXECUTORS,
    TOLD_CROSS_JOIN,
    TOLD_STREAM_LAG,
    TOLD_PLANNING,
    TOLD_RECOMPUTED,
    TOLD_SPILL,
    TOLD_EXECUTOR_SHAPE,
    TOLD_HISTORY_LISTING,
    TOLD_EXECUTOR_METRICS,
    TOLD_UNKNOWN_FRAMES,
    TOLD_BROADCAST_JOIN,
    TOLD_DISTINCT_COUNT,
    TOLD_JDBC_WRITE,
    TOLD_WINDOW,
    TOLD_MERGE,
    TOLD_FIRST_QUERY,
    TOLD_PARTITION_NUMBER,
    TOLD_COALESCE,
    TOLD_PRUNING,
    TOLD_SLOW_LINES,
    TOLD_INCOMPLETE_APPLICATION,
    TOLD_CACHE_SIZE,
    TOLD_JOB_LOOP,
    TOLD_MULTIPLIED_ROWS,
    TOLD_CLUSTER_COST,
    TOLD_GLOBAL_SORT,
    TOLD_GROUPED_VALUES,
    TOLD_GROWING_PLAN,
    TOLD_SLOW_MACHINE,
    TOLD_SHARED_APPLICATION,
    TOLD_SCHEMA_INFERENCE,
    TOLD_TIME_ZONE,
    TOLD_LOCAL_MEMORY,
    TOLD_OVERWRITTEN_PARTITIONS,
)
