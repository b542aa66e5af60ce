"""What whoever helps with a Spark job asks for: each thing, why, how it is told among files, and where it comes from.

The order is that in which it helps. After the table at the end of the EMR guide to troubleshooting, and what the
other clusters have in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct


class Asked(Struct, frozen=True):
    """One thing that is asked for. A file is of it where its kind is one of `kinds`, or its path matches `path`.

    `get` says where it is to be had, by cluster; `{app}` stands for the application's id.
    """

    name: str
    why: str
    get: tuple[tuple[str, str], ...]
    kinds: frozenset[str] = frozenset()
    path: str = ""

    def is_of(self, kind: str | None, path: str) -> bool:
        return kind in self.kinds or (bool(self.path) and re.search(self.path, path, re.IGNORECASE) is not None)


_CONTAINER: Final = r"container_(?:e\d+_)?\d+_\d+_\d+_\d+"

ASKED: Final = (
    Asked(
        "event log",
        "what ran, for how long and with which settings: most questions are answered by it alone",
        (
            (
                "any",
                "the directory of spark.eventLog.dir; `emberscope bundle http://HISTORY-SERVER:18080/…` fetches it",
            ),
            ("EMR", "the persistent History Server of the console keeps it for 30 days after the end"),
        ),
        kinds=frozenset({"event_log", "run"}),
    ),
    Asked(
        "driver log",
        "the first error, the settings of the submission, and why the application ended",
        (
            ("YARN, cluster mode", "yarn logs -applicationId {app} (the container that ends in _000001)"),
            ("EMR step", "s3://LOGS/CLUSTER/steps/STEP/stderr.gz and controller.gz"),
            ("Kubernetes", "kubectl logs DRIVER-POD"),
            ("Databricks", "log4j and stderr of the driver, on the cluster's page"),
        ),
        path=r"_000001/|(?:^|[/_-])driver(?:[/_.-]|$)|steps/s-\w+/|log4j-active|controller(?:\.gz)?$",
    ),
    Asked(
        "executor logs",
        "what an executor said before it went away",
        (
            ("YARN", "yarn logs -applicationId {app} > app.log"),
            ("EMR", "s3://LOGS/CLUSTER/containers/{app}/"),
            ("Kubernetes", "kubectl logs EXECUTOR-POD; with --previous for one that was restarted"),
        ),
        path=rf"{_CONTAINER}/|(?:^|[/_-])exec(?:utor)?(?:[/_.-]|$)|\bapp-\d+-\d+/\d+/",
    ),
    Asked(
        "cluster manager",
        "who ended containers and why: memory, preemption, lost nodes",
        (
            ("YARN", "logs of the ResourceManager, and of the NodeManager of the node that was lost"),
            ("YARN", "yarn application -status {app}"),
            ("Kubernetes", "kubectl get pods -o json; kubectl describe pod POD; kubectl get events -o json"),
        ),
        kinds=frozenset({"yarn_report", "pod_status"}),
        path=r"resourcemanager|nodemanager|kubectl|events?\.(?:json|ya?ml)$|pods?\.(?:json|ya?ml|txt)$",
    ),
    Asked(
        "state of the node",
        "full disks, memory and busy processes at that time, every 15 minutes",
        (
            ("EMR", "s3://LOGS/CLUSTER/node/INSTANCE/daemons/instance-state/ around the time of the trouble"),
            ("any", "df -h; free -m; ps auxwww --sort -%cpu | head -20; dmesg -T | tail -100"),
        ),
        path=r"instance-state|\b(?:df|ps|free|dmesg|top)\b[^/]*$",
    ),
    Asked(
        "scaling of the cluster",
        "which nodes were taken away while they held shuffle output",
        (
            ("EMR", "s3://LOGS/CLUSTER/node/INSTANCE/daemons/instance-controller/, and the time line of the resizes"),
            ("Kubernetes", "events of the autoscaler and of the nodes: kubectl get events -A"),
        ),
        path=r"instance-controller|autoscal|managed-?scaling",
    ),
    Asked(
        "garbage collection and crashes of the JVM",
        "how full the heap was, how long pauses were, and in which library a JVM crashed",
        (
            ("any", "-Xlog:gc*:file=gc.log in spark.executor.extraJavaOptions (before Java 9: -Xloggc:gc.log)"),
            ("any", "hs_err_pid*.log in the working directory of the container"),
        ),
        kinds=frozenset({"gc_log", "hs_err"}),
        path=r"hs_err|(?:^|[/._-])gc[^/]*\.log",
    ),
    Asked(
        "configuration",
        "what the cluster sets for every job; the event log has only what Spark itself was given",
        (("any", "spark-defaults.conf, spark-env.sh, yarn-site.xml, capacity-scheduler.xml; the cluster's own JSON"),),
        kinds=frozenset({"config"}),
        path=r"-site\.xml|spark-(?:defaults|env)|capacity-scheduler|configurations?\.json",
    ),
    Asked(
        "way of submission",
        "the command, and what Livy or a notebook made of it",
        (
            ("any", "the command of the submission as it was typed"),
            ("Livy", "/var/log/livy/livy-livy-server.out"),
        ),
        path=r"livy|spark-submit|notebook|jupyter",
    ),
    Asked(
        "History Server and log pusher",
        "only where event logs or logs themselves are missing",
        (("EMR", "s3://LOGS/CLUSTER/daemons/apppusher.log.gz; /emr/logpusher/log; /var/log/spark/*HistoryServer*"),),
        path=r"apppusher|logpusher|historyserver|history-server",
    ),
    Asked(
        "recording",
        "which code the time went to",
        (("any", "emberscope run -- spark-submit …"),),
        kinds=frozenset({"recording", "collapsed", "perf_script", "pprof", "run"}),
    ),
    Asked(
        "metrics",
        "load of the machines, and of the services that the job talks to",
        (("EMR", "CloudWatch: MRUnhealthyNodes, MRLostNodes, YARNMemoryAvailablePercentage"),),
        kinds=frozenset({"metrics"}),
        path=r"cloudwatch|prometheus|metrics",
    ),
)


class Answer(Struct, frozen=True):
    """What is there of one thing that is asked for: names of files, in their order."""

    asked: Asked
    files: tuple[str, ...]

    def document(self, app_id: str | None) -> dict[str, Any]:
        return {
            "name": self.asked.name,
            "why": self.asked.why,
            "files": list(self.files),
            "get": [{"cluster": cluster, "how": _filled(how, app_id)} for cluster, how in self.asked.get],
        }


def answers(files: Iterable[tuple[str | None, str]]) -> tuple[Answer, ...]:
    """What of all that is asked for is among these files, each given by its kind (None where it has none) and path."""
    there = list(files)
    return tuple(Answer(asked, tuple(path for kind, path in there if asked.is_of(kind, path))) for asked in ASKED)


def checklist(found: Sequence[Answer], app_id: str | None = None) -> str:
    """What is there and what is not, as text in Markdown."""
    lines: list[str] = []
    for answer in found:
        there = ", ".join(f"`{name}`" for name in answer.files[:3])
        more = f" and {len(answer.files) - 3} more" if len(answer.files) > 3 else ""
        lines.append(f"- [{'x' if answer.files else ' '}] **{answer.asked.name}**: {answer.asked.why}.")
        if answer.files:
            lines.append(f"  - {there}{more}")
        else:
            lines += [f"  - {cluster}: {_filled(how, app_id)}" for cluster, how in answer.asked.get]
    return "\n".join(lines) + "\n"


def _filled(how: str, app_id: str | None) -> str:
    return how.replace("{app}", app_id or "APPLICATION-ID")
