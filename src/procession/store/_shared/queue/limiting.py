"""The rules of limits: made when a job first names them, changed when a newer one comes, and what follows for the line.

A limited job has got its start time and its place in line by the rule that counted when it came in. Where the rule
changes, those that wait get new ones by the new rule, in claim order.
"""

from __future__ import annotations

from collections.abc import Iterable

from procession import limits
from procession.errors import NotFound
from procession.jobs.limits import LimitState, place
from procession.jobs.options import JobOptions, Limit, check_options
from procession.store._shared.queue.rows import job_rows, lock_limits, write_jobs, write_limits
from procession.store._shared.queue.script import Script, ask_for


def held_limits(wanted: Iterable[Limit]) -> Script[dict[str, LimitState]]:
    """Lock limits, made first where they are not there. Their rules stay as they are."""
    rules = {rule.key: rule for rule in wanted}
    found = yield from lock_limits(rules)
    missing = sorted(rules.keys() - found.keys())
    if missing:
        yield from ask_for("add_limits", [_rule_row(rules[key]) for key in missing])
        found |= yield from lock_limits(missing)
    return found


def newest_limits(wanted: Iterable[Limit], now: int) -> Script[dict[str, LimitState]]:
    """Lock limits and give them the newest rules; of several for one key the last counts."""
    rules = {rule.key: rule for rule in wanted}
    found = yield from held_limits(rules.values())
    changed = [key for key, rule in rules.items() if found[key].takes_rule(rule)]
    if changed:
        yield from _reconsider(set(changed), found, now)
    for state in found.values():
        state.moved_us = max(state.moved_us, now * 1_000)  # when it was named last: it is not forgotten soon
    return found


def set_limit(rule: Limit, now: int) -> Script[list[str] | None]:
    """Change a limit's rule now; the queues that may have got jobs to claim, None where it was the rule already.

    Raises NotFound and InvalidValue.
    """
    check_options(JobOptions(limits=[rule]))
    found = yield from lock_limits([rule.key])
    if rule.key not in found:
        raise NotFound(f"Expected a limit with the key {rule.key!r}: a limit is there once a job has named it")
    if not found[rule.key].takes_rule(rule):
        return None
    found[rule.key].moved_us = max(found[rule.key].moved_us, now * 1_000)  # what a person said is not forgotten soon
    queues = yield from _reconsider({rule.key}, found, now)
    yield from write_limits(found.values())
    return queues


def _reconsider(changed: set[str], states: dict[str, LimitState], now: int) -> Script[list[str]]:
    """Give those that wait for changed limits new start times and places; the first ENQUEUE_MAX of them."""
    for key in changed:
        states[key].parked = False
    waiting = job_rows((yield from ask_for("find_limited", [limits.ENQUEUE_MAX])))
    waiting = [job for job in waiting if changed & {limit.key for limit in job.options.limits}]
    others = {limit.key for job in waiting for limit in job.options.limits} - states.keys()
    states |= yield from lock_limits(others)
    for job in waiting:
        rules = [states[limit.key] for limit in job.options.limits if limit.key in states]
        parked_for = job.waits_for
        start, waits_for = place(rules, now)
        job.run_at = start if start > now else min(job.run_at, now)  # one that may start keeps its place
        if parked_for in changed:
            job.waits_for = waits_for  # all others stay: one that tries for an unchanged limit may be the only one
    yield from write_jobs(waiting)
    yield from write_limits(states.values())
    return sorted({job.queue for job in waiting})


def _rule_row(rule: Limit) -> dict[str, object]:
    return {"key": rule.key, "most": rule.most, "rate": rule.rate, "per_ms": rule.per_ms, "burst": rule.burst}
