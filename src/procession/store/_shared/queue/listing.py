"""Which jobs a filter means: a page of them, and how many there are. It changes nothing.

A filter that an index answers (the states of a job, a batch of jobs, keys) is looked up there, as long as that finds at
most ``CANDIDATES_MAX`` jobs. Everything else goes along the keys, and looks at no more than ``LOOKED_AT_MAX`` rows at a
time: a text that stands nowhere must not keep a database busy. A page then says where to go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from procession import limits
from procession.jobs.transitions import ARCHIVED
from procession.store._shared.queue.rows import read_options
from procession.store._shared.queue.script import Script, as_bytes, ask_for
from procession.store.rows.queue_reading import JobDetails, JobLink, JobsFound, QueueFilter


def find_jobs(which: QueueFilter) -> Script[JobsFound]:
    """A page, in the order of keys, perhaps shorter than asked for; and where to go on."""
    keys, after = yield from _find_keys(which)
    found = yield from details(keys)
    return JobsFound(jobs=[found[key] for key in keys if key in found], after=after)


def whole_page(which: QueueFilter) -> Script[list[JobDetails]]:
    """A page that is full, or the last one."""
    found: list[JobDetails] = []
    which = msgspec.structs.replace(which)
    wanted = which.limit
    while True:
        which.limit = wanted - len(found)
        page = yield from find_jobs(which)
        found += page.jobs
        if not page.after or len(found) >= wanted:
            return found
        which.after = page.after


def count_meant(which: QueueFilter, most: int) -> Script[tuple[int, bool]]:
    """How many jobs are meant, up to a bound, and whether there may be more."""
    which = msgspec.structs.replace(which, after=0, limit=most + 1)
    keys, after = yield from _find_keys(which)
    return min(len(keys), most), bool(after) or len(keys) > most


def details(keys: Iterable[int]) -> Script[dict[int, JobDetails]]:
    """Jobs with everything, in the queue or in the archive."""
    wanted = sorted(set(keys))
    found = {row[0]: _details(row) for row in (yield from ask_for("job_details", wanted))}
    missing = [key for key in wanted if key not in found]
    found |= {row[0]: _details(row) for row in (yield from ask_for("archived_details", missing))}
    return found


def links(keys: Sequence[int]) -> Script[list[JobLink]]:
    """What these jobs come after, and who comes after them."""
    rows = list((yield from ask_for("links_of", sorted(keys))))
    rows += yield from ask_for("children_of", sorted(keys), limits.PAGE_MAX)
    found = {(row[0], row[1]): JobLink(child=row[0], parent=row[1], either=bool(row[2])) for row in rows}
    return [found[name] for name in sorted(found)]


def _find_keys(which: QueueFilter) -> Script[tuple[list[int], int]]:
    fields = _fields(which)
    archived = which.state in ARCHIVED
    candidates: Sequence[int] | None = which.keys or None
    if candidates is None and not archived:
        candidates = yield from _candidates(which)
    if candidates is None:
        return (yield from _along_the_keys("archive" if archived else "queue", which, fields))
    beyond = [key for key in candidates if _is_beyond(key, which)]
    found: list[int] = []
    fields["keys"] = sorted(beyond)
    if beyond and not archived:
        found += [row[0] for row in (yield from ask_for("filter_queue", [fields]))]
    if beyond and which.keys and (archived or which.state < 0):
        found += [row[0] for row in (yield from ask_for("filter_archive", [fields]))]
    found.sort(reverse=which.newest)
    page = found[: which.limit]
    return page, page[-1] if page and len(found) > which.limit else 0


def _is_beyond(key: int, which: QueueFilter) -> bool:
    """Whether a key comes after the cursor."""
    if not which.after:
        return True
    return key < which.after if which.newest else key > which.after


def _along_the_keys(part: str, which: QueueFilter, fields: dict[str, object]) -> Script[tuple[list[int], int]]:
    rows = yield from ask_for(f"scan_{part}_newest" if which.newest else f"scan_{part}", [fields])
    keys = [row[0] for row in rows if row[0] > 0]
    end = next((-row[0] for row in rows if row[0] < 0), 0)
    if len(keys) >= which.limit:
        return keys, keys[-1] if keys else 0
    return keys, end


def _candidates(which: QueueFilter) -> Script[list[int] | None]:
    """All that an index knows of what may be meant; None where that is too much, or there is no index."""
    most = limits.CANDIDATES_MAX + 1
    if which.batch:
        rows = yield from ask_for("find_in_batch", [{"batch": which.batch, "most": most}])
    elif which.state >= 0:
        asked = {"states": [which.state], "queue": which.queue, "owner": which.owner, "most": most}
        rows = yield from ask_for("find_in_states", [asked])
    else:
        return None
    return [row[0] for row in rows] if len(rows) < most else None


def _fields(which: QueueFilter) -> dict[str, object]:
    fields = msgspec.structs.asdict(which)
    fields["text"] = _pattern(which.text) if which.text else ""
    fields["rows"] = limits.LOOKED_AT_MAX
    fields["skipped"] = limits.LOOKED_AT_MAX - 1
    return fields


def _pattern(text: str) -> str:
    """A LIKE pattern for a text within; the escape character is ``!``."""
    for special in "!%_":
        text = text.replace(special, "!" + special)
    return f"%{text.lower()}%"


def _details(row: Any) -> JobDetails:  # noqa: ANN401 - a row of a statement
    (key, kind, state, queue, type_, instance, priority, run_at, attempt, retries, crashes, lease, owner) = row[:13]
    (error, created_at, ended_at, args, output, options_json, traits, progress, progress_text) = row[13:22]
    options = read_options(options_json)
    return JobDetails(
        key=key,
        kind=kind,
        state=state,
        queue=queue,
        type=type_,
        instance=instance,
        priority=options.priority if options is not None and options.ageing_ms else priority,
        run_at=run_at,
        attempt=attempt,
        retries=retries,
        crashes=crashes,
        lease=lease,
        owner=owner,
        error=error,
        created_at=created_at,
        ended_at=ended_at,
        args=as_bytes(args),
        output=as_bytes(output),
        options=options,
        traits=traits,
        progress=progress,
        progress_text=progress_text,
        checkpoint=as_bytes(row[22]),
        cancel_reason=row[23],
        waits_for=row[24],
        tenant=row[25],
    )
