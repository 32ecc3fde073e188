"""Jobs of the queue for eyes: as a table, as one in full, as a log, as a tree. It reads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from procession.cli import screen
from procession.cli.options import options
from procession.cli.tables import KEY, Column

if TYPE_CHECKING:
    from rich.text import Text

    from procession.app.job_graphs import FlowGraph, FlowNode
    from procession.app.job_lists import JobAttempt, JobInFull, QueueJob, RelatedJob
    from procession.app.queues import LogEntry

TRACE_LINES = 12  # of a traceback; --json has all
BAR = 10  # cells of a progress bar
LEVELS = {
    10: ("debug", "dim"),
    20: ("info", ""),
    30: ("warning", "yellow"),
    40: ("error", "red"),
    50: ("critical", "red"),
}
MARKS = {
    "SUCCEEDED": ("✓", "green"),
    "GONE": ("✓", "dim"),
    "FINISHED": ("✓", "green"),
    "FAILED": ("✗", "red"),
    "DELETED": ("✗", "yellow"),
    "RUNNING": ("▸", "bold cyan"),
    "READY": ("▸", "cyan"),
}


def job_table(rows: Sequence[QueueJob]) -> None:
    """A page of jobs."""
    if not rows:
        return
    columns = (
        KEY,
        Column("type"),
        Column("queue", rank=2),
        Column("state", whole=True),
        Column("progress", whole=True, rank=4),
        Column("priority", whole=True, right=True, rank=5),
        Column("tries", whole=True, right=True, rank=3),
        Column("created", whole=True, rank=1),
        Column("due", whole=True),
    )
    errors = [screen.styled(row.error_message.strip().partition("\n")[0], "red") for row in rows]
    screen.table(columns, [_row(row) for row in rows], below=errors)


def _row(row: QueueJob) -> tuple[str | Text, ...]:
    name = row.type or f"({row.kind.lower().replace('_', '-')})"
    return (
        screen.key(row.job_key),
        f"{name} · {row.title}" if row.title else name,
        row.queue,
        screen.state(row.state),
        bar(row.progress) if row.progress else "",
        str(row.priority) if row.priority else "",
        str(row.attempt) if row.attempt else "",
        screen.when(row.created_at),
        screen.when(row.run_at) if row.state in ("SCHEDULED", "THROTTLED") else "",
    )


def bar(progress: float) -> str:
    """How far a run is."""
    full = round(max(0.0, min(1.0, progress)) * BAR)
    return "█" * full + "░" * (BAR - full) + f" {progress:4.0%}"


def show_job(found: JobInFull) -> None:
    """One job, and what it belongs to."""
    row = found.job
    screen.line((row.type or row.kind.lower(), "bold"), f" {row.job_key}  ", screen.state(row.state))
    screen.paragraph(found.why, indent=2)
    timing = f"{row.attempt} used, {row.retries} left" if row.attempt else f"{row.retries} left"
    pairs = (
        ("title", row.title),
        ("queue", row.queue),
        ("priority", str(row.priority) if row.priority else ""),
        ("created", screen.when(row.created_at)),
        ("due", screen.when(row.run_at) if row.ended_at is None else ""),
        ("ended", screen.when(row.ended_at)),
        ("attempts", timing),
        ("crashes", str(row.crashes) if row.crashes else ""),
        ("process", str(row.node) if row.node else ""),
        ("deadline", screen.when(row.deadline_at)),
        ("timeout", screen.lasting(row.timeout_ms / 1000) if row.timeout_ms else ""),
        ("unique key", row.unique_key),
        ("limits", ", ".join(row.limits)),
        ("batch", screen.key(row.batch_key)),
        ("instance", screen.key(row.process_instance_key)),
        ("tags", ", ".join(row.tags)),
        *((f"{name} =", text) for name, text in sorted(row.metadata.items())),
        ("tenant", row.tenant_id),
        ("progress", f"{bar(row.progress)}  {row.progress_text}" if row.progress or row.progress_text else ""),
    )
    screen.pairs(pair for pair in pairs if pair[1])
    _show_values(found)
    _show_error(row.error_message)
    _show_attempts(found.attempts)
    _show_related("Comes after", found.parents)
    _show_related("Before", found.children)


def _show_values(found: JobInFull) -> None:
    for title, value in (
        ("Arguments", found.job.args),
        ("Result", found.job.output),
        ("Checkpoint", found.checkpoint),
    ):
        if value in (None, {}):
            continue
        screen.heading(title)
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            screen.pairs((name, screen.value(inner)) for name, inner in sorted(fields.items()))
        else:
            screen.paragraph(screen.value(value), indent=2)


def _show_error(text: str) -> None:
    if not text:
        return
    screen.heading("Error")
    head, _, trace = text.strip().partition("\n")
    screen.paragraph(head, indent=2, style="red")
    for line in trace.splitlines()[-TRACE_LINES:]:
        screen.line(("  " + line, "dim"))


def _show_attempts(rows: Sequence[JobAttempt]) -> None:
    """The attempts that failed, a line for each."""
    if not rows:
        return
    screen.heading("Attempts that failed")
    width = max(len(str(row.attempt)) for row in rows)
    for row in rows:
        first = row.message.strip().partition("\n")[0]
        said = first if not row.error_type or row.error_type in first else f"{row.error_type}: {first}"
        screen.line(f"  {row.attempt:>{width}}  ", (f"{screen.when(row.at)}  ", "dim"), (said, "red"))
        screen.line(" " * (width + 4), (row.worker, "dim"))


def _show_related(title: str, rows: Sequence[RelatedJob]) -> None:
    if not rows:
        return
    screen.heading(title)
    for row in rows:
        how = ("  (in any case)", "dim") if row.either else ""
        screen.line(
            "  ", _mark(row.state), f" {row.job_key}  {row.title or row.type or 'batch'}  ", _state(row.state), how
        )


def show_log(lines: Sequence[LogEntry]) -> None:
    """Lines as they were written; as JSON one object each."""
    for line in lines:
        if options().json:
            screen.json_line(line.to_dict())
            continue
        name, style = LEVELS.get(line.level, (str(line.level), ""))
        screen.line((f"{screen.when(line.at)}  ", "dim"), (f"{name:<8} ", style), line.text)


# -- flows ------------------------------------------------------------------------------------------------------------
class Branch(NamedTuple):
    """A line of a flow's tree."""

    trunk: str  # what stands before it
    node: FlowNode
    either: bool  # it comes after what is above it in any case
    is_again: bool  # it stands elsewhere in full
    others: list[int]  # what else it comes after


def branches(graph: FlowGraph) -> Iterator[Branch]:
    """A graph as a tree: a job stands under the first that it comes after, and is named again under the others."""
    nodes = {node.job_key: node for node in graph.nodes}
    children: dict[int, list[int]] = {}
    parents: dict[int, list[int]] = {}
    either: dict[tuple[int, int], bool] = {}
    for edge in graph.edges:
        children.setdefault(edge.parent_key, []).append(edge.child_key)
        parents.setdefault(edge.child_key, []).append(edge.parent_key)
        either[edge.parent_key, edge.child_key] = edge.either
    place = {node.job_key: number for number, node in enumerate(graph.nodes)}
    stack: list[tuple[int, int, str, str]] = [
        (node.job_key, 0, "", "") for node in reversed(graph.nodes) if node.job_key not in parents
    ]
    while stack:
        key, above, trunk, below = stack.pop()
        others = [parent for parent in parents.get(key, []) if parent != above]
        is_again = bool(above) and above != max(parents[key], key=lambda parent: place[parent])
        yield Branch(trunk, nodes[key], either.get((above, key), False), is_again, others)
        if is_again:
            continue
        found = sorted(children.get(key, []), key=lambda child: place[child])
        for number, child in reversed(list(enumerate(found))):
            is_last = number == len(found) - 1
            stack.append((child, key, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))


def show_flow(graph: FlowGraph, key: int) -> None:
    """The tree of a flow; the job that was asked for is marked."""
    if graph.title:
        screen.line((graph.title, "bold"), (f"  {graph.flow_key}", "dim"))
    for branch in branches(graph):
        node = branch.node
        name = node.title or node.type or ("batch" if node.is_batch else "a job that is gone")
        note = ("  see below", "dim") if branch.is_again else ""
        parts: list[Text | str | tuple[str, str]] = [
            (branch.trunk, "dim"),
            _mark(node.state),
            " ",
            (name, "bold underline" if node.job_key == key else "bold"),
            (f"  {node.job_key}  ", "dim"),
            _state(node.state),
        ]
        if node.progress and node.state in ("RUNNING", "OPEN", "SEALED"):
            parts.append(f"  {bar(node.progress)}")
        if branch.either:
            parts.append(("  in any case", "dim"))
        screen.line(*parts, note)
    if graph.is_cut:
        screen.note(("There is more of it than can be shown", "yellow"))


def _mark(state: str) -> tuple[str, str]:
    return MARKS.get(state, ("·", "dim"))


def _state(state: str) -> tuple[str, str]:
    return (state.lower(), MARKS.get(state, ("", "dim"))[1])
