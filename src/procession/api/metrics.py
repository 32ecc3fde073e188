"""What a server counts, for Prometheus: requests, commands under load, waiting workers, and the engine's own counters.

Every name stands in ``docs/server-metrics.md``. Counters are read when somebody asks; nothing is pushed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from procession.api.audit import Auditor
from procession.api.backpressure import Admission
from procession.app import Procession

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Traffic(Collector):
    """What came over one protocol, in plain numbers: they are made metrics of when somebody asks."""

    def __init__(self, protocol: str, status: str) -> None:
        self._name = f"procession_{protocol}"
        self._status = status
        self._answered: dict[tuple[str, str], int] = {}
        self._times: dict[str, _Times] = {}
        self.open = 0  # requests under way
        self.disconnects = 0  # clients that went away before their answer

    def answered(self, operation: str, status: str, took_s: float, *, waits: bool) -> None:
        """A request was answered."""
        name = operation, status
        self._answered[name] = self._answered.get(name, 0) + 1
        if waits:
            return
        times = self._times.get(operation)
        if times is None:
            times = self._times[operation] = _Times()
        times.sum_s += took_s
        times.counts[bisect_left(SECONDS, took_s)] += 1

    def collect(self) -> Iterator[Metric]:
        """Read them."""
        name = self._name
        words = f"Requests answered, by operation and {self._status}"
        answered = CounterMetricFamily(f"{name}_requests", words, labels=["operation", "status"])
        for labels, count in self._answered.items():
            answered.add_metric(labels, count)
        yield answered
        words = "Time from a request's headers to its answer, waiting for jobs left out"
        seconds = HistogramMetricFamily(f"{name}_request_seconds", words, labels=["operation"])
        for operation, times in self._times.items():
            upto = accumulate(times.counts)
            edges = [*map(str, SECONDS), "+Inf"]
            seconds.add_metric([operation], list(zip(edges, upto, strict=True)), times.sum_s)
        yield seconds
        yield GaugeMetricFamily(f"{name}_requests_open", "Requests under way", self.open)
        yield CounterMetricFamily(f"{name}_disconnects", "Clients that went away before their answer", self.disconnects)


class _Times:
    """How long the requests of one operation took."""

    __slots__ = ("counts", "sum_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)  # each between two edges; the last one beyond them all
        self.sum_s = 0.0


class Metrics:
    """Of one server."""

    def __init__(self, app: Procession, admission: Admission, auditor: Auditor) -> None:
        self._registry = CollectorRegistry(auto_describe=True)
        self._registry.register(_Engine(app, admission, auditor))
        self.http = Traffic("http", "status")
        self.grpc = Traffic("grpc", "status code")
        self._registry.register(self.http)
        self._registry.register(self.grpc)

    def page(self) -> bytes:
        """All of them as Prometheus reads them."""
        return generate_latest(self._registry)


class _Engine(Collector):
    """Counters that others keep."""

    def __init__(self, app: Procession, admission: Admission, auditor: Auditor) -> None:
        self._app = app
        self._admission = admission
        self._auditor = auditor

    def collect(self) -> Iterator[Metric]:
        """Read them."""
        yield from self._commands()
        counters, remote = self._app.counters, self._app.remote
        yield GaugeMetricFamily("procession_workers_waiting", "Remote workers that wait for jobs", remote.waiting)
        yield CounterMetricFamily("procession_jobs_delivered", "Jobs leased to remote workers", remote.delivered)
        yield CounterMetricFamily(
            "procession_audit_lost", "Entries of the audit log that could not be written", self._auditor.lost
        )
        for name, words in _COUNTERS.items():
            yield CounterMetricFamily(f"procession_engine_{name}", words, getattr(counters, name))
        yield GaugeMetricFamily(
            "procession_engine_in_flight", "Commands taken and not yet committed", counters.in_flight
        )

    def _commands(self) -> Iterator[Metric]:
        admission = self._admission
        for name, value in (
            ("offered", admission.offered),
            ("accepted", admission.accepted),
            ("completed", admission.completed),
        ):
            yield CounterMetricFamily(f"procession_commands_{name}", f"Commands {name} at the edge", value)
        rejected = CounterMetricFamily(
            "procession_commands_rejected", "Commands refused under load, by reason", labels=["reason"]
        )
        for reason, count in admission.rejected.items():
            rejected.add_metric([reason], count)
        yield rejected
        yield GaugeMetricFamily("procession_commands_in_flight", "Commands accepted, not answered", admission.in_flight)
        limit = admission.limit
        if limit is not None:
            yield GaugeMetricFamily("procession_commands_limit", "How many may be in flight", limit.limit)


_COUNTERS = {
    "accepted": "Commands committed",
    "started": "Instances started",
    "completed": "Instances that ended as modelled",
    "terminated": "Instances that were ended",
    "steps": "Steps of instances",
    "commits": "Transactions",
    "stale": "Steps decided again because another process was faster",
    "claimed": "Jobs leased by claims",
    "jobs_done": "Plain jobs done",
    "jobs_retried": "Jobs that are tried again",
    "jobs_failed": "Jobs that failed for good",
    "jobs_returned": "Jobs given back unstarted",
    "unavailable": "Calls that the database did not answer",
}
