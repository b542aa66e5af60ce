"""Which of the things that cluster managers say a file holds."""

from __future__ import annotations

from emberscope.logs.pod_description import looks_like_pod_description
from emberscope.logs.pod_status import looks_like_pod_status
from emberscope.logs.yarn_report import looks_like_yarn_report


def status_kind(head: bytes) -> str | None:
    """`pod_status` or `yarn_report` by the first bytes of a file, None where it is neither."""
    if looks_like_pod_status(head) or looks_like_pod_description(head):
        return "pod_status"
    return "yarn_report" if looks_like_yarn_report(head) else None
