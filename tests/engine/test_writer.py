"""From decisions to rows: what is written, what is not, and what is refused. Pure: no store and no loop."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from procession.core import Decision, State, decide
from procession.core import events as e
from procession.core.commands import (
    AnyCommand,
    Cancel,
    CompleteJob,
    CompleteUserTask,
    FailJob,
    FireTimer,
    ResolveIncident,
    SetVariables,
    StartInstance,
    UpdateUserTask,
)
from procession.core.lines import Trail
from procession.engine import writer
from procession.engine.history import encode_events
from procession.engine.settings import History
from procession.engine.writer import Draft, Ledger, timers_of, write_step
from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobKind, JobState
from procession.limits import VARIABLES_BYTES_MAX
from procession.model import compile_resource
from procession.store.rows import JobFence, Shape, Step
from procession.testing.bpmn import ProcessBuilder, process

NOW = 1_000_000
INSTANCE = 1


def note(draft: Draft, decision: Decision) -> list[Trail] | None:
    if draft.trails is None or decision.trail is None:
        return None
    return [*draft.trails, decision.trail]


class Desk:
    """One instance, decided and written step by step, without a store."""

    along_lines = True

    def __init__(self, builder: ProcessBuilder, methods: tuple[str, ...] = (), level: History = History.FULL) -> None:
        (self.definition,) = compile_resource(builder.xml(), methods=methods).definitions
        self.keys = Keys(range(2, 1 << 40))
        self.ledger = Ledger(instance=INSTANCE, rev=-1)
        self.state: State | None = None
        self.level = level

    def step(self, *commands: AnyCommand, fences: dict[int, int] | None = None, now: int = NOW) -> Step:
        draft = Draft(fences=fences or {})
        for command in commands:
            decision = decide(self.definition, self.state, command, now=now, keys=self.keys)
            self.state = decision.state
            draft.events = [*draft.events, *decision.events]
            draft.follow_ups = [*draft.follow_ups, *decision.follow_ups]
            draft.trails = note(draft, decision) if self.along_lines else None
        assert self.state is not None
        step = write_step(self.definition, self.state, draft, self.ledger, keys=self.keys, now=now, level=self.level)
        self.ledger.rev = max(1, step.rev + 1)
        assert self.ledger.timers == timers_of(self.state)
        return step

    def start(self, **variables: Any) -> Step:
        return self.step(StartInstance(instance=INSTANCE, variables=variables))


def test_a_start_writes_the_instance_its_variables_and_its_job():
    desk = Desk(process("p").start().service("pay", retries=5).end())
    step = desk.start(total=1)
    (job,) = step.new_jobs
    assert step.shape() is Shape.START
    assert (step.rev, step.variables) == (-1, b'{"total":1}')
    assert (job.kind, job.queue, job.type, job.element, job.retries) == (JobKind.SERVICE, "$job:pay", "pay", "pay", 5)


def test_a_completion_closes_one_job_under_its_lease_and_opens_the_next():
    desk = Desk(process("p").start().service("a").service("b").end())
    (a,) = desk.start().new_jobs
    step = desk.step(CompleteJob(a.key), fences={a.key: 7})
    assert step.shape() is Shape.STEP
    assert step.closed_jobs == [JobFence(key=a.key, lease=7)]
    assert [job.element for job in step.new_jobs] == ["b"]
    assert step.variables is None, "nothing was written to the instance's variables"


def test_a_job_opened_and_closed_within_a_step_is_never_written():
    desk = Desk(process("p").start().task("a").task("b").end(), methods=("a", "b"))
    (a,) = desk.start().new_jobs
    assert a.queue == "$method:a"
    assert desk.state is not None
    draft = Draft(fences={a.key: 1})
    for _ in range(2):
        (job,) = desk.state.jobs
        decision = decide(desk.definition, desk.state, CompleteJob(job, {"x": 1}), now=NOW, keys=desk.keys)
        draft.events = [*draft.events, *decision.events]
    step = write_step(desk.definition, desk.state, draft, desk.ledger, keys=desk.keys, now=NOW, level=History.FULL)
    assert step.new_jobs == []
    assert step.closed_jobs == [JobFence(key=a.key, lease=1)]
    assert step.status == 1


def test_a_timer_is_a_job_that_is_due_later_and_goes_with_what_it_watches():
    desk = Desk(process("p").start().user("wait").end().boundary("late", on="wait", timer="PT1S").end())
    start = desk.start()
    (timer,) = start.new_jobs
    (task,) = start.new_user_tasks
    assert (timer.kind, timer.queue, timer.run_at, timer.element) == (JobKind.TIMER, "$timer", NOW + 1000, "late")
    step = desk.step(CompleteUserTask(task.key))
    assert step.closed_jobs == [JobFence(key=timer.key)]
    assert not step.closed_subscriptions
    assert step.closed_user_tasks == [task.key]


def test_a_timer_that_is_due_at_once_may_run_at_once():
    desk = Desk(process("p").start().catch("now", timer="PT0S").end())
    (timer,) = desk.start().new_jobs
    assert timer.run_at == 0
    step = desk.step(FireTimer(timer.key), fences={timer.key: 1})
    assert step.closed_jobs == [JobFence(key=timer.key, lease=1)]


def test_a_subscription_opened_earlier_is_closed_as_a_subscription():
    desk = Desk(process("p").start().catch("paid", message="paid", key="=id").end())
    (subscription,) = desk.start(id="A").new_subscriptions
    assert (subscription.name, subscription.correlation_key, subscription.element) == ("paid", "A", "paid")
    step = desk.step(Cancel())
    assert step.closed_subscriptions == [subscription.key]
    assert step.closed_jobs == []
    assert step.status == 2


def test_a_job_without_attempts_left_keeps_its_row_and_an_incident_says_why():
    desk = Desk(process("p").start().service("pay").end())
    (job,) = desk.start().new_jobs
    step = desk.step(FailJob(job.key, "no money"), fences={job.key: 3})
    (incident,) = step.new_incidents
    (change,) = step.changed_jobs
    assert (change.key, change.state, change.lease) == (job.key, JobState.FAILED, 3)
    assert (incident.kind, incident.element, incident.job) == ("JOB_NO_RETRIES", "pay", job.key)
    assert step.closed_jobs == []
    resolved = desk.step(ResolveIncident(incident.key, retries=2))
    (revived,) = resolved.changed_jobs
    assert (revived.state, revived.retries) == (JobState.READY, 2)
    assert resolved.closed_incidents == [incident.key]


def test_the_same_problem_of_two_instances_has_the_same_fingerprint():
    prints = set()
    for attempt in (1, 2):
        desk = Desk(process("p").start().service("pay").end())
        (job,) = desk.start().new_jobs
        (incident,) = desk.step(FailJob(job.key, f"order {attempt} has no price")).new_incidents
        prints.add(incident.fingerprint)
    assert len(prints) == 1


def test_changes_of_a_user_task_are_written_by_column():
    desk = Desk(process("p").start().user("sign", assignee="anna").end())
    start = desk.start()
    (task,) = start.new_user_tasks
    step = desk.step(UpdateUserTask(task.key, {"assignee": "bert", "due": 5}, "assign"))
    assert [(change.key, change.changes) for change in step.changed_user_tasks] == [
        (task.key, {"assignee": "bert", "due_at": 5})
    ]


def test_variables_are_written_only_when_the_instances_own_changed():
    desk = Desk(process("p").start().service("pay", inputs={"local": "=1"}).end())
    desk.start(a=1)
    assert desk.state is not None
    (owner,) = desk.state.jobs.values()
    assert desk.step(SetVariables({"local": 2}, owner, local=True)).variables is None
    assert desk.step(SetVariables({"b": 2})).variables == b'{"a":1,"b":2}'


def test_the_json_of_a_start_is_used_again_only_for_the_very_same_values():
    desk = Desk(process("p").start().script("flip", "=1", result="a").user("wait").end())
    decision = decide(
        desk.definition, None, StartInstance(instance=INSTANCE, variables={"a": True}), now=NOW, keys=desk.keys
    )
    draft = Draft(events=decision.events, raw=b'{"a":true}', started_with={"a": True})
    step = write_step(desk.definition, decision.state, draft, desk.ledger, keys=desk.keys, now=NOW, level=History.FULL)
    assert step.variables == b'{"a":1}', "1 equals True, but is another value"


def test_what_must_reach_others_leaves_as_a_job_with_the_step():
    desk = Desk(process("p").start().call("inner", process="q").end())
    (job,) = desk.start(x=1).new_jobs
    assert (job.kind, job.queue, job.type, job.instance) == (JobKind.FOLLOW_UP, "$follow-up", "CallProcess", INSTANCE)
    assert msgspec.json.decode(job.args)["process_id"] == "q"


def test_the_history_holds_names_only_unless_values_were_asked_for():
    events: list[e.Event] = [e.VariablesSet(1, {"secret": "s3cret"}), e.LoopResult(1, 1, "s3cret")]
    events.append(e.CompensationRecorded(1, 1, {"card": "s3cret"}, 0, gathers=False))
    events.append(e.LoopChanged(1, {"count": 3, "items": ["s3cret"]}))
    assert encode_events(events, History.OFF) is None
    activity = encode_events(events, History.ACTIVITY)
    full = encode_events(events, History.FULL)
    assert activity is not None
    assert full is not None
    assert b"s3cret" not in activity
    assert b'"secret"' in activity
    assert b'"count":3' in activity
    assert full.count(b"s3cret") == 4


def test_variables_over_the_limit_are_refused_by_name():
    desk = Desk(process("p").start().user("wait").end())
    desk.start(a="x" * (VARIABLES_BYTES_MAX - 100))
    with pytest.raises(InvalidValue, match="VARIABLES_BYTES_MAX"):
        desk.step(SetVariables({"b": "y" * 200}))


TWO_BRANCHES = process("p").start().parallel("fork").service("a").parallel("join").end().at("fork").task("b").to("join")


@pytest.mark.parametrize("level", list(History))
@pytest.mark.parametrize("model", [process("p").start().service("a").task("b").end(), TWO_BRANCHES])
def test_the_usual_step_has_the_rows_that_any_step_would_have(
    model: ProcessBuilder, level: History, monkeypatch: pytest.MonkeyPatch
):
    def run() -> list[Step]:
        desk = Desk(model, methods=("b",), level=level)
        steps = [desk.start(total=1)]
        while desk.state is not None and desk.state.jobs:
            job = min(desk.state.jobs)
            steps.append(desk.step(CompleteJob(job, {"done": job}), fences={job: 1}))
        return steps

    along_lines = run()
    monkeypatch.setattr(Desk, "along_lines", False)
    usual = run()
    monkeypatch.setattr(writer, "USUAL", frozenset())
    assert run() == usual == along_lines
