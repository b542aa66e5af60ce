"""What programs that pass on the lines of others put before them: container runtimes, Livy, Airflow, kubectl."""

from __future__ import annotations

import re
from typing import Final

from emberscope.logs.head import head_of

_POD: Final = r"(?:\[pod/[\w.-]+/[\w.-]+\] )?"
# containerd and CRI-O, as kubelets keep logs; Livy's reader of its drivers' output; Airflow's task logs.
_RUNTIME: Final = re.compile(rf"{_POD}\d{{4}}-\d\d-\d\dT[\d:.]{{8,20}}(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP] ")
_LIVY: Final = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:INFO|DEBUG) LineBufferedStream: ")
_AIRFLOW: Final = re.compile(
    r"\[\d{4}-\d\d-\d\d[T,]? ?[\d:.,+-]{8,22}(?: [A-Z]{2,5})?\] \{{1,2}[\w./ -]{1,80}:\d+\}{1,2} [A-Z]{4,8} - "
    r"(?:\[[\w.-]{1,80}\] )?"
)
_QUOTED: Final = re.compile(r"(?:> ?)+")
_GOES_ON: Final = re.compile(
    r"\s|at [\w.$]+\(|Caused by: |Suppressed: |\.\.\. \d+ more"
    r"|(?:[a-z_]\w*\.){1,20}[A-Z][\w$]{0,100}(?:Exception|Error)\b"
)


def unwrapped(line: str) -> str:
    """The line that a process wrote, where another put something before it; else the line as it is.

    What is put before a line that has no time of its own stays there: it is the only clock.
    """
    if line[:1] == ">":
        line = _QUOTED.sub("", line, count=1)
    if line[:1] not in "[0123456789" or not line:
        return line
    found = _RUNTIME.match(line) or _LIVY.match(line)
    if found is not None:
        inner = line[found.end() :]
        head = head_of(inner)
        return inner if head is None or head.time_ms is not None else line
    found = _AIRFLOW.match(line)
    if found is None:
        return line
    inner = line[found.end() :]
    head = head_of(inner)
    goes_on = head is None and _GOES_ON.match(inner) is not None
    return inner if goes_on or (head is not None and head.time_ms is not None) else line
