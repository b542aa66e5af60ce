"""Resource profiles: what executors and tasks ask for."""

from __future__ import annotations

from typing import Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import Id, Record
from emberscope.redact import Redactor
from emberscope.tables.resource_profiles import RESOURCE_PROFILES

field: Final = msgspec.field


class Request(Record, frozen=True):
    amount: float | None = field(name="Amount", default=None)
    discovery_script: str | None = field(name="Discovery Script", default=None)
    vendor: str | None = field(name="Vendor", default=None)


class ResourceProfileAdded(Record, frozen=True):
    resource_profile_id: Id = field(name="Resource Profile Id")
    executor: dict[str, Request] = field(name="Executor Resource Requests", default={})
    task: dict[str, Request] = field(name="Task Resource Requests", default={})


class ResourceProfiles:
    """Collects the profiles; one that comes again (Databricks writes one per file) replaces the first."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._profiles: dict[int, ResourceProfileAdded] = {}

    def added(self, event: ResourceProfileAdded) -> None:
        self._profiles[event.resource_profile_id] = event

    def task_cores(self, profile_id: int | None) -> float:
        """How many cores a task has by a profile; 1 if the log does not say."""
        profile = self._profiles.get(0 if profile_id is None else profile_id)
        cores = profile.task.get("cpus") if profile is not None else None
        return 1.0 if cores is None or cores.amount is None else cores.amount

    def table(self) -> pa.Table:
        """The table `resource_profiles`."""
        rows = [
            {
                "resource_profile_id": profile.resource_profile_id,
                "scope": scope,
                "resource": resource,
                "amount": request.amount,
                "discovery_script": self._redactor.text(request.discovery_script) or None,
                "vendor": request.vendor or None,
            }
            for profile in self._profiles.values()
            for scope, requests in (("executor", profile.executor), ("task", profile.task))
            for resource, request in requests.items()
        ]
        return RESOURCE_PROFILES.from_rows(rows)
