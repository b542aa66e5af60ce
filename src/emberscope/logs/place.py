"""Who wrote a log: application, container, executor, host and role, by the path of the file and by what it says."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

APPLICATION: Final = re.compile(
    r"\b(application_\d{10,}_\d{4,}|app-\d{14}-\d{4}|local-\d{13}|spark-(?:application-\d{13}|[0-9a-f]{32}))\b"
)
_CONTAINER: Final = re.compile(r"\bcontainer_(?:e\d+_)?(?P<app>\d{10,}_\d{4,})_\d\d_(?P<number>\d{6,})\b")
_POD: Final = re.compile(r"\b(?P<pod>[a-z0-9][a-z0-9.-]*-(?:exec-(?P<number>\d+)|driver))\b")
_EXECUTOR_FOLDER: Final = re.compile(r"app-\d{14}-\d{4}/(?P<number>\d+)/")
_INSTANCE: Final = re.compile(r"/(?:node|containers)/(?P<host>i-[0-9a-f]{8,17})/")
_SECTION: Final = re.compile(r"Container: (?P<container>container_\w+) on (?P<host>[\w.-]+?)(?:_\d+)?(?:\s|$)")
_STARTING: Final = re.compile(
    r"Starting executor ID (?P<number>\S+) on host (?P<host>[\w.-]+)|--executor-id (?P<other>\d+)"
)
_VERSION: Final = re.compile(r"Running Spark version (?P<version>\S+)")
_TURNING: Final = re.compile(
    r"^(?:Running Spark version |Submitted application: |Starting executor ID |Registered executor )"
)
_NAME: Final = re.compile(r"Submitted application: (?P<name>.+)")
_ABOUT: Final = re.compile(
    r"(?:\b(?:[Ll]ost executor|[Ee]xecutor with id|ExecutorLostFailure \(executor|Removing executor|[Rr]emove executor"
    r"|[Ee]xecutor ID|executor id:?)|, executor|\((?:[\w.:\[\]-]{1,255} )?executor|\b[Ee]xecutor(?: \w+:)?(?= app-))"
    r" (?:app-\d{14}-\d{4}/)?(?P<number>\d+)\b"
)
_CONTAINER_OF: Final = re.compile(
    r"(?P<container>container_\w+) on host (?P<host>[\w.-]+) for executor with ID (?P<number>\d+)"
)

_ROLES: Final = (
    ("livy", re.compile(r"(?i)livy")),
    ("history", re.compile(r"HistoryServer|FsHistoryProvider|(?i:history-?server)")),
    ("am", re.compile(r"\bApplicationMaster\b|\bYarnAllocator\b|\bYarnRMClient\b")),
    (
        "driver",
        re.compile(
            r"\b(?:DAGScheduler|TaskSetManager|TaskSchedulerImpl|YarnScheduler|YarnClusterScheduler|SparkContext"
            r"|YarnSchedulerBackend\S*|YarnClientSchedulerBackend|StandaloneSchedulerBackend\S*|BlockManagerMaster\S*"
            r"|KubernetesClusterSchedulerBackend\S*|ExecutorAllocationManager|AsyncEventQueue|ExecutorPods\w+"
            r"|HeartbeatReceiver|MicroBatchExecution)$"
        ),
    ),
    (
        "executor",
        re.compile(
            r"\b(?:CoarseGrainedExecutorBackend|YarnCoarseGrainedExecutorBackend|KubernetesExecutorBackend|Executor)$"
        ),
    ),
    ("node", re.compile(r"\.nodemanager\.|\bkubelet|ContainersMonitorImpl|YarnShuffleService|\bNodeManager\b")),
    ("worker", re.compile(r"\b(?:Worker|ExecutorRunner|DriverRunner)$")),
    ("client", re.compile(r"\bspark\.deploy\.yarn\.Client$|^Client$|LoggingPodStatusWatcherImpl")),
)
_FILE_ROLES: Final = (
    ("livy", re.compile(r"(?i)livy[^/]*$")),
    ("history", re.compile(r"(?i)history[-_]?server|spark-history")),
    ("node", re.compile(r"(?i)nodemanager[^/]*$|kubelet|hadoop-yarn/")),
    ("driver", re.compile(r"(?i)(?:^|[/_-])driver(?:[-_./]|$)|/log4j-active\.log$")),
    ("client", re.compile(r"/steps/s-\w+/")),
)

SHARED_ROLES: Final = frozenset({"node", "worker", "history", "livy"})
"""Daemons that serve many applications: an application that they name is not that of the log."""


class Place(Struct):
    """What is known of the writer of a log; it changes as the log says more.

    `ahead_ms` is by how much its times are those of another zone than the driver's.
    """

    file: str
    role: str | None = None
    executor_id: str | None = None
    container_id: str | None = None
    host: str | None = None
    app_id: str | None = None
    app_name: str | None = None
    spark_version: str | None = None
    ahead_ms: int = 0

    def learn(self, line: str) -> None:
        """Take in what a line says of its own log."""
        section = _SECTION.match(line)
        if section is not None:
            self.enter(section["container"], section["host"])
        started = _STARTING.search(line)
        if started is not None:
            self.executor_id, self.role = started["number"] or started["other"], "executor"
            self.host = started["host"] or self.host
        version = _VERSION.search(line)
        if version is not None:
            self.spark_version = version["version"].strip(".,")
        name = _NAME.search(line)
        if name is not None:
            self.app_name = name["name"].strip()
        if self.app_id is None and self.role not in SHARED_ROLES:
            self.app_id = application_in(line)

    def enter(self, container: str, host: str) -> None:
        """What follows is of this container."""
        self.container_id, self.host = container, host
        self.executor_id = self.role = None
        self._container(container)

    def _container(self, name: str) -> None:
        found = _CONTAINER.search(name)
        if found is not None:
            self.app_id = f"application_{found['app']}"
            if int(found["number"]) == 1:
                self.role = "am"


def place_of(path: str) -> Place:
    """What the path of a log tells: folders of YARN, EMR and standalone workers, pods' names."""
    place = Place(path)
    slashes = path.replace("\\", "/")
    application = APPLICATION.search(slashes)
    if application is not None:
        place.app_id = application[1]
    container = _CONTAINER.search(slashes)
    if container is not None:
        place.container_id = container[0]
        place._container(container[0])
    pod = _POD.search(slashes)
    if pod is not None:
        place.container_id = place.container_id or pod["pod"]
        place.executor_id, place.role = (pod["number"], "executor") if pod["number"] else (None, "driver")
    folder = _EXECUTOR_FOLDER.search(slashes)
    if folder is not None:
        place.executor_id, place.role = folder["number"], "executor"
    instance = _INSTANCE.search(slashes)
    if instance is not None:
        place.host = instance["host"]
    place.role = place.role or next((role for role, pattern in _FILE_ROLES if pattern.search(slashes)), None)
    return place


def application_in(text: str) -> str | None:
    """The first application that a text names, by its id or by that of a container."""
    application, container = APPLICATION.search(text), _CONTAINER.search(text)
    if application is not None and (container is None or application.start() <= container.start()):
        return application[1]
    return f"application_{container['app']}" if container is not None else None


def role_of(logger: str | None) -> str | None:
    """The kind of process that has a class of this name write."""
    if not logger:
        return None
    return next((role for role, pattern in _ROLES if pattern.search(logger)), None)


def is_turning_point(message: str) -> bool:
    """Whether it is worth keeping although all is well: when the application and its executors began."""
    return _TURNING.match(message) is not None


def executor_about(text: str) -> str | None:
    """The executor that a message is about."""
    found = _ABOUT.search(text)
    return found["number"] if found is not None else None


def container_of_executor(text: str) -> tuple[str, str, str] | None:
    """Executor, container and host, where the driver tells that it starts one."""
    found = _CONTAINER_OF.search(text)
    return (found["number"], found["container"], found["host"]) if found is not None else None
