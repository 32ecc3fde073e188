"""`procession bench compare`: other queues and engines in the same rotation as ours, on the same PostgreSQL.

Each is installed into an environment of its own, and does those workloads of the queue that it can. One that cannot be
installed, or that fails, is in the result with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TypeVar

from procession.errors import Misconfigured
from procession.lab.peer_environments import Installed, default_folder, install
from procession.lab.peer_table import PEERS, PeerSpec
from procession.lab.queue_bench import QueueBench, QueueShow, QueueWritten, Told
from procession.lab.queue_orders import QueueOptions
from procession.lab.queue_results import Peer
from procession.lab.queue_run import Means
from procession.lab.queue_variants import WORKLOADS, QueueVariant, Workload

COMPARED: Final = ("bulk", "single", "drain", "drain-1ms", "latency", "steps-64")
WITH_SLEEP: Final = {"graphile-worker": {"concurrency": "100"}}  # what a peer needs beyond its settings for W4

Saying = Callable[[str], None]
Thing = TypeVar("Thing")


class CompareOptions(QueueOptions, kw_only=True, frozen=True):
    """How to compare. Few jobs and a short time for a run, since some of the others do a few hundred a second."""

    rounds: int = 3
    variants: str = ",".join(COMPARED)
    scale: float = 1.0
    ceiling: bool = False
    seconds_max: float = 10.0
    peers: str = "*"
    peers_folder: str = ""  # where environments are kept; empty: the user's cache

    def public(self) -> dict[str, object]:
        """The options as a result may show them: no path, no address."""
        return {**super().public(), "peers_folder": ""}


async def bench_compare(
    options: CompareOptions,
    show: QueueShow | None = None,
    *,
    written: Told | None = None,
    saying: Saying | None = None,
) -> QueueWritten:
    """Install, measure, write JSON and HTML. Raises Misconfigured for names that fit nothing."""
    workloads = _chosen_workloads(options.variants)
    specs = _chosen_peers(options.peers)
    folder = Path(options.peers_folder) if options.peers_folder else default_folder()
    peers: list[Peer] = []
    means: dict[str, Means] = {}
    for spec in specs:
        if saying is not None:
            saying(f"installing {spec.name}")
        found = await install(spec, folder)
        peers.append(_peer(spec, found))
        if not found.problem:
            means[spec.name] = _means(spec, found)
    variants = [
        variant
        for workload in workloads
        for variant in (_own(workload), *_of_peers(workload, [spec for spec in specs if spec.name in means]))
    ]
    bench = QueueBench(options, "compare", variants, show=show, written=written, means=means, peers=peers)
    return await bench.run()


def _chosen_workloads(patterns: str) -> list[Workload]:
    """Those that a list of names or patterns names. Raises Misconfigured."""
    return _fitting("--workloads", patterns, {workload.name: workload for workload in WORKLOADS})


def _chosen_peers(patterns: str) -> list[PeerSpec]:
    """The same for peers. Raises Misconfigured."""
    return _fitting("--peers", patterns, {spec.name: spec for spec in PEERS})


def _fitting(option: str, patterns: str, known: dict[str, Thing]) -> list[Thing]:
    wanted = [pattern.strip().lower() for pattern in patterns.split(",") if pattern.strip()]
    for pattern in wanted:
        if not any(fnmatchcase(name.lower(), pattern) for name in known):
            message = f"Expected {option} to name some of {', '.join(known)}; found '{pattern}', which fits none"
            raise Misconfigured(message)
    return [thing for name, thing in known.items() if any(fnmatchcase(name.lower(), pattern) for pattern in wanted)]


def _peer(spec: PeerSpec, found: Installed) -> Peer:
    return Peer(
        name=spec.name,
        version=found.version,
        language=spec.language,
        settings=spec.words,
        source=spec.source,
        problem=found.problem,
    )


def _means(spec: PeerSpec, found: Installed) -> Means:
    return Means(
        command=found.command,
        open_query=spec.open_query,
        done_query=spec.done_query,
        settings=spec.settings,
        settings_with_sleep={**spec.settings, **WITH_SLEEP.get(spec.name, {})},
        seen_in_database=spec.stores,
    )


def _own(workload: Workload) -> QueueVariant:
    return QueueVariant(name=f"postgres-{workload.name}", workload=workload, database="postgres")


def _of_peers(workload: Workload, specs: Sequence[PeerSpec]) -> list[QueueVariant]:
    return [
        QueueVariant(
            name=f"{spec.name}-{workload.name}",
            workload=workload,
            database="postgres" if spec.stores else "memory",
            subject=spec.name,
        )
        for spec in specs
        if workload.name in spec.workloads
    ]
