"""A connection between driver, executors or services could not be made, broke, or stood still.

## What it means
Processes of an application talk over ports of each other. A name that does not resolve, a port that is closed by a
firewall, a driver that announces an address which others cannot reach: these fail from the start and always. A
connection that was good and then stands still ("has been quiet", "Futures timed out") means that the other side does
not answer: it is in a long garbage collection, overloaded, or gone.

## What it costs
From the start: nothing runs at all. Later: tasks and fetches that are tried again, and the time-outs until then.

## What to do
Tell the two apart. Never worked: addresses, names, ports, firewalls. Worked before: look at the other side's end, heap
and load at that time, and only then at time-outs.

## When to ignore it
When the other side had just ended, as at the end of an application, or was lost for a reason that is told by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Consequence, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, consequence_of, failure, groups_of, is_question
from emberscope.rules.said import Said, said
from emberscope.rules.settings import ms_setting
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NETWORK: Final = Signature(
    name="network",
    pattern=r"(?P<shuffle>Unable to register with external shuffle server|auxService:spark_shuffle does not exist)|"
    r"(?P<bind>Cannot assign requested address|Service '?\w+'? (?:failed after (?P<tries>\d+) "
    "retries|"
    r"could not bind))|"
    r"UnknownHostException: ?(?P<host>[^\s:]+)|"
    r"(?P<api>Failed to connect to (?P<server>kubernetes\.default[\w.]*)|Executor cannot find driver pod|"
    r"External scheduler cannot be instantiated)|"
    r"(?P<driver>Cannot receive any reply from|Failed to connect to driver|Could not find CoarseGrainedScheduler)|"
    r"Connection to (?P<peer>[^\s]+) has been quiet for (?P<ms>\d+) ms while there are outstanding requests|"
    r"Futures timed out after \[(?P<for>\d+) (?P<unit>\w+)\]|"
    r"(?P<route>No route to host|Network is unreachable)|"
    r"RpcTimeoutException|Connection reset by peer|SocketException: Connection reset|"
    r"(?:ConnectException|IOException): (?P<refused>Failed to connect to (?P<to>[^\s]+)|Connection refused)",
    literals=(
        "Cannot assign requested address",
        "failed after 16 retries",
        "retries (on a random free port)",
        "retries (starting from",
        "could not bind on a random free port",
        "UnknownHostException",
        "Cannot receive any reply from",
        "Failed to connect to",
        "Executor cannot find driver pod",
        "External scheduler cannot be instantiated",
        "Could not find CoarseGrainedScheduler",
        "while there are outstanding requests",
        "Futures timed out after",
        "No route to host",
        "Network is unreachable",
        "RpcTimeoutException",
        "Connection reset by peer",
        "SocketException: Connection reset",
        "Unable to register with external shuffle server",
        "auxService:spark_shuffle does not exist",
        "Connection refused",
    ),
    words=(
        (r"futures timed out",),
        (r"unknown ?host|cannot resolve|name resolution",),
        (r"connect(ion)?", r"reset|refused|unreachable|no route|firewall", r"driver|executor|worker|spark"),
        (r"cannot assign requested address",),
        (
            r"executors?|workers?|pods?",
            r"(cannot|can't|can not|could not|unable to|fail(s|ed)? to|not able to) (connect|reach|talk|communicate)",
            r"driver|master",
        ),
        (r"connection refused", r"localhost|127\.0\.0\.1", r"executors?|pods?|driver|workers?"),
    ),
)
_ELSEWHERE: Final = re.compile(
    r"FetchFailed|shuffle-client|ShuffleBlockFetcher|block fetch|Could not execute broadcast|BroadcastExchange|"
    r"BroadcastHashJoin|executeBroadcast|"
    r"[Mm]eta[Ss]tore|livy|:8998|S3|amazonaws|[Kk]afka|jdbc",
)
_SERVICE: Final = re.compile(r"Service '?(\w+)'? (?:failed after|could not bind)")
_STARTS_OR_ENDS: Final = re.compile(
    r"Error initializing SparkContext|Job aborted|[Uu]ncaught exception|User class threw|Exception in thread \"?main"
)
_UNITS: Final = {
    "milliseconds": 1,
    "millisecond": 1,
    "seconds": 1000,
    "second": 1000,
    "minutes": 60_000,
    "minute": 60_000,
}
_AM_WAIT_MS: Final = 100_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, NETWORK.name), _kind):
        yield _broken(run, kind, rows)


def _kind(row: Said) -> str | None:
    """What kind of trouble; None where another rule tells it better: a fetch, a broadcast, a service beside Spark."""
    if "Unable to register with external shuffle" in row.text or "auxService:spark_shuffle" in row.text:
        return "shuffle"
    if _ELSEWHERE.search(row.text) and not re.search(r"Service '\w+' failed", row.text):
        return None
    found = groups_of(row, NETWORK)
    if "api" in found or found.get("to", "").startswith("kubernetes.default"):
        return "api"
    if "bind" in found:
        return "bind"
    if "host" in found:
        return "name"
    if "for" in found:
        am = int(found["for"]) * _UNITS.get(found["unit"], 0) == _AM_WAIT_MS and "ApplicationMaster" in row.text
        return "context" if am else "silent"
    if "ms" in found or "RpcTimeout" in row.text:
        return "silent"
    if "driver" in found or "route" in found or "refused" in found:
        return "unreachable"
    if is_question(row) and re.search(r"connect|reach|refused", row.text, re.I):
        return "unreachable"
    return "silent" if is_question(row) and re.search(r"timed? ?out", row.text, re.I) else "reset"


def _broken(run: Run, kind: str, rows: list[Said]) -> Finding:
    found: dict[str, str] = {}
    for row in rows:
        found = {**groups_of(row, NETWORK), **found}
    service = next((named[1] for row in rows if (named := _SERVICE.search(row.text))), "A service of Spark")
    peer = found.get("peer") or found.get("to") or "the other side"
    seconds = int(found["ms"]) // 1000 if "ms" in found else None
    titles = {
        "bind": f"{service} could not bind to its address or port",
        "name": f"The host name {found.get('host', '')} does not resolve",
        "silent": f"{peer[0].upper()}{peer[1:]} did not answer{f' for {seconds} s' if seconds else ' in time'}",
        "shuffle": "Executors cannot register with the external shuffle service of their node",
        "context": "YARN waited in vain for the driver's SparkContext (spark.yarn.am.waitTime)",
        "api": "The driver could not ask Kubernetes' API server for its own pod or for executors",
        "unreachable": f"{peer[0].upper()}{peer[1:]} could not be reached",
        "reset": "Connections were reset by the other side",
    }
    return failure(
        run,
        rows,
        title=titles[kind],
        summary=_SUMMARIES[kind],
        advice=_advice(run, kind, seconds),
        confidence=0.6 if kind in ("reset", "silent", "unreachable") else 0.9,
        consequence=_consequence(run, kind, rows),
    )


def _consequence(run: Run, kind: str, rows: list[Said]) -> Consequence:
    """Connections break at the end of every application: a reset alone ended nothing."""
    if kind == "reset" and not any(is_question(row) for row in rows):
        return "hint"
    followed = consequence_of(run, rows)
    if followed == "ended" and kind in ("silent", "unreachable"):
        # An executor writes the same when the driver ends as it should.
        told = any(row.level in (None, "FATAL") or _STARTS_OR_ENDS.search(row.text) for row in rows)
        return "ended" if told else "lost"
    return followed


_SUMMARIES: Final = {
    "bind": "The address that it should listen on is not one of this machine (spark.driver.bindAddress, "
    "SPARK_LOCAL_IP, a host name that resolves to another one, a VPN), or all ports that it tried are taken by other "
    "applications.",
    "name": "A name that one process announces is not known where another runs: DNS, /etc/hosts, a container's own "
    "name, or a typing error in a path or address.",
    "silent": "The other process holds the connection but does not answer: it is in a long garbage collection, "
    "overloaded, or was lost. Time-outs are the echo; that process's heap, load and end are where the cause is.",
    "shuffle": "spark.shuffle.service.enabled is on, and at the port where each node should have the service (7337) "
    "none answers: it is not installed (YARN's auxiliary service spark_shuffle), does not run, or has another port or "
    "secret. Executors end at their start.",
    "context": "In cluster mode the program must make its SparkContext within 100 s. It did long work before, waited "
    "for something, or has the master set in its code.",
    "unreachable": "Nothing answers at that address: the process there has ended, it announces an address that others "
    "cannot reach, or a firewall closes its ports (in client mode and in containers most often the driver's).",
    "api": "Spark's driver makes and watches executor pods through the API server (kubernetes.default.svc). Either its "
    "service account has no role for that in this namespace, or the driver pod cannot reach the server: DNS, a network "
    "policy, or a sidecar that is not up yet. No executor can start.",
    "reset": "The process at the other end closed or died. By itself it says no more, and it is usual when an "
    "application ends.",
}


def _advice(run: Run, kind: str, seconds: int | None) -> Iterator[Advice]:
    if kind == "bind":
        yield Advice(
            "cluster",
            "Set SPARK_LOCAL_IP or spark.driver.bindAddress to an address of the machine (127.0.0.1 for local mode, "
            "0.0.0.0 in a container, with spark.driver.host as others see it).",
        )
        yield Advice("check", "Ports taken: end forgotten applications, or raise spark.port.maxRetries from 16.")
    elif kind == "shuffle":
        yield Advice(
            "cluster",
            "Start it on every node: spark_shuffle in yarn.nodemanager.aux-services with Spark's yarn-shuffle jar on "
            "the node manager's class path, or the worker's own on standalone clusters.",
        )
        yield set_conf("spark.shuffle.service.enabled", "false", "Or do without it; executors then serve their output.")
    elif kind == "name":
        yield Advice("check", "Resolve that name on the driver's and on an executor's node: `getent hosts NAME`.")
        yield Advice(
            "cluster", "Mend DNS or /etc/hosts, or announce an address: spark.driver.host, SPARK_LOCAL_HOSTNAME."
        )
    elif kind == "api":
        yield Advice(
            "check",
            "Read the cause at the end of the trace: Forbidden is the role, a timeout or a refused connection the way; "
            "`kubectl auth can-i create pods --as=system:serviceaccount:NAMESPACE:ACCOUNT` tells the first.",
        )
        yield Advice(
            "cluster",
            "Name a service account with a role for pods, services and config maps in "
            "spark.kubernetes.authenticate.driver.serviceAccountName, and let network policies pass the driver to the "
            "API server (port 443 or 6443).",
        )
    elif kind == "unreachable":
        yield Advice("check", "Look whether the process there still lived; its own log tells its end.")
        yield Advice(
            "cluster",
            "If it lived: let spark.driver.host be an address that executors reach, fix spark.driver.port and "
            "spark.blockManager.port, and open them in the firewall.",
        )
    elif kind == "context":
        yield Advice("code", "Make the SparkSession first, other work after it, and set no master in the code.")
        yield set_conf("spark.yarn.am.waitTime", "600s", "If what comes before it has to take so long.")
    else:
        yield Advice("check", "Look at GC pauses, load and end of the process at the other side at that time.")
        timeout = "spark.network.timeout"
        value = max(300, 60 * (2 * (seconds or 0) // 60))
        if kind == "silent" and value * 1000 > ms_setting(run, timeout, "120s", unit="s"):
            yield set_conf(timeout, f"{value}s", "Only if the other side was alive and its pauses are accepted.")


RULE = Rule(
    code="K26",
    name="network",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(NETWORK,),
)
