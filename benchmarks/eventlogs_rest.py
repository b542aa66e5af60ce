"""Do our tables say what Spark's own History Server says? `eventlogs_rest.py LOG...`

Starts the History Server of the installed pyspark with its limits raised, asks its REST API about every log, and
compares: stages (all sums of task metrics, counts, status, peaks), jobs, executors, kept RDDs, SQL executions and each
metric of each of their operators, letter by letter. What differs is listed with the reason that is known for it:

    repeated     metrics over all attempts, where the server forgets all but the last (it is right on what it shows)
    removed      tasks that end after their executor was removed: the server leaves them out of the executor's sums
    unfinished   of stages without an end, totals of accumulators are not in the log; the server adds up their tasks
    dropped      of a job whose start the log lost the server does not know what its stages ran for, and of a task
                 whose start it lost not what it did; of a stage that lost all events there is no total of accumulators
    pending      a stage that an unfinished job planned and that never was submitted is "skipped" here
    local        of a driver that runs tasks the server shows the time of the application, not of its tasks
    vendor       a type of metric that Spark does not know: the server adds up what is no sum
    spark2       before Spark 3, sizes and times begin at -1, so that what an accumulator holds is lower
    redacted     a text in which we replaced a secret

Everything else is "unexplained", and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import urllib.error
from collections import Counter
from pathlib import Path

from eventlogs_rest_compare import Comparison
from eventlogs_rest_server import history_server, offer

from emberscope.errors import InputError
from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.task_accumulables import read_task_accumulables
from emberscope.tables.run import Run


def rounds(logs: list[Path]) -> list[dict[str, tuple[Path, Run]]]:
    """The logs by application, in as many rounds as one application has logs."""
    result: list[dict[str, tuple[Path, Run]]] = []
    for log in logs:
        try:
            run = read_event_log(str(log))
        except InputError as error:
            print(f"{log.name}: {error}")
            continue
        key = run.application.app_id
        if key is None:
            print(f"{log.name}: has no start of an application, which the History Server needs")
            continue
        for apps in result:
            if key not in apps and all(log.name != other.name for other, _ in apps.values()):
                apps[key] = (log, run)
                break
        else:
            result.append({key: (log, run)})
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    parser.add_argument("--heap", default="2g", help="of the History Server")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for the next log to be listed")
    parser.add_argument("--show", type=int, default=10, help="differences to list for each log and reason")
    options = parser.parse_args()
    done: list[Comparison] = []
    for apps in rounds(options.logs):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "logs")
            folder.mkdir()
            for log, _ in apps.values():
                offer(log, folder)
            with history_server(folder, Path(scratch, "server.log"), options.heap) as server:
                listed = server.listed(set(apps), options.patience)
                for app_id, (log, run) in apps.items():
                    if app_id not in listed:
                        print(f"{log.name}: the History Server does not list it")
                        continue
                    try:
                        says = server.says(listed[app_id])
                    except urllib.error.HTTPError as error:
                        print(f"{log.name}: the History Server fails on it: {error}")
                        continue
                    compared = Comparison(run, read_task_accumulables(str(log)), says)
                    compared.all()
                    report(log, compared, options.show)
                    done.append(compared)
    return 1 if summary(done) else 0


def report(log: Path, compared: Comparison, show: int) -> None:
    print(f"{log.name} ({compared.run.application.app_id}, Spark {compared.run.application.spark_version})")
    reasons = Counter(difference.reason or "unexplained" for difference in compared.differences)
    for what, equal in compared.equal.items():
        wrong = sum(difference.what == what for difference in compared.differences)
        print(f"  {what}: {equal:,} equal, {wrong:,} different")
    for reason, count in reasons.items():
        print(f"  {reason}: {count:,}")
        for difference in [d for d in compared.differences if (d.reason or "unexplained") == reason][:show]:
            print(f"    {difference}")


def summary(done: list[Comparison]) -> int:
    """Prints one table over all logs. How much is unexplained."""
    equal: Counter[str] = sum((compared.equal for compared in done), Counter())
    different: dict[str, Counter[str]] = {what: Counter() for what in equal}
    for difference in (difference for compared in done for difference in compared.differences):
        different.setdefault(difference.what, Counter())[difference.reason or "unexplained"] += 1
    print(f"\n{len(done)} logs\n| part | equal | different |\n|---|---|---|")
    for what, reasons in different.items():
        said = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common()) or "0"
        print(f"| {what} | {equal[what]:,} | {said} |")
    return sum(reasons["unexplained"] for reasons in different.values())


if __name__ == "__main__":
    sys.exit(main())
