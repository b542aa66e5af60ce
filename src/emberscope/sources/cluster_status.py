"""What a cluster manager said of an application, as a run: pods, their descriptions and events, reports of YARN."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emberscope.errors import InputError
from emberscope.logs.pod_description import read_pod_description
from emberscope.logs.pod_status import looks_like_pod_status, read_pod_status
from emberscope.logs.statement import Statement, table_of
from emberscope.logs.yarn_report import read_yarn_report
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Application, Run
from emberscope.unpack import unpack

if TYPE_CHECKING:
    from emberscope.logs.signature import Signature

_MOST_BYTES: Final = 256 << 20
"""Ten thousand pods with all that is known of them are some 100 MB."""


def load_cluster_status(path: str, kind: str, signatures: Sequence[Signature] = ()) -> Run:
    """The run that a file of kind `pod_status` or `yarn_report` tells of: table `log_events`, and what names it.

    Raises `InputError` where it is larger than any such file.
    """
    if Path(path).stat().st_size > _MOST_BYTES:
        raise InputError(path, "it is too large for the state of pods or a report.", hint="Is it a log? Use --kind.")
    data, missing = unpack(Path(path).read_bytes())
    text = data.decode("utf-8", "replace")
    if kind == "yarn_report":
        found, coverage = read_yarn_report(text, path)
    elif looks_like_pod_status(data):
        found, coverage = read_pod_status(text, path)
    else:
        found, coverage = read_pod_description(text)
    return Run(
        path,
        _application(found),
        {"log_events": table_of(found, path, signatures)},
        coverage + _of_several(found, path) + _missing(missing, path),
    )


def _missing(missing: str, path: str) -> Coverage:
    return Coverage((Note("cut", f"{missing}.", path),)) if missing else Coverage()


def _application(found: Sequence[Statement]) -> Application:
    names = {said.app_id for said in found if said.app_id is not None}
    times = [said.time_ms for said in found if said.time_ms is not None]
    return Application(
        app_id=names.pop() if len(names) == 1 else None,
        last_event_ms=max(times, default=None),
        lines=len(found),
    )


def _of_several(found: Sequence[Statement], path: str) -> Coverage:
    names = sorted({said.app_id for said in found if said.app_id is not None})
    if len(names) < 2:
        return Coverage()
    shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
    return Coverage(
        (Note("limited", f"It tells of {len(names)} applications ({shown}), which are not told apart.", path),)
    )
