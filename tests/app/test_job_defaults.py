"""Options that a job has without its call saying so: those of its handler, and of the type of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import attrs
import msgspec
import pydantic
import pytest

from procession import FlowJob, Job, Limit, Procession, Recurring, Unique, job_defaults
from procession.errors import InvalidValue, Misconfigured


@job_defaults(priority=5, tags=["of the type"], metadata={"type": "1", "both": "type"}, title=lambda a: f"to {a['to']}")
@dataclass
class Letter:
    to: str


@job_defaults(queue="letters", timeout="1m")
class Struct(msgspec.Struct, frozen=True):
    to: str


@job_defaults(queue="letters")
class Model(pydantic.BaseModel):
    to: str


@job_defaults(queue="letters")
@attrs.frozen
class Attrs:
    to: str


@dataclass
class ByHand:
    to: str
    __job_defaults__ = {"queue": "letters"}  # noqa: RUF012 - what is to be shown


@pytest.fixture
async def app(make: Callable[..., Procession]) -> Procession:
    app = make()
    app.ran = []

    @app.job(
        "send",
        queue="mail",
        retries=7,
        priority=1,
        tags=["of the handler"],
        metadata={"handler": "1", "both": "handler"},
        keep="1h",
    )
    async def send(job: Job, to: str) -> None:
        app.ran.append(to)

    @app.job("once", unique=lambda args: Unique(f"once:{args['to']}", for_="1h"), fair_key=lambda args: args["to"])
    async def once(to: str) -> None:
        app.ran.append(to)

    return await app.open(run_workers=False, migrate=True)


async def test_the_call_wins_over_the_type_and_the_type_over_the_handler(app):
    plain = await app.job_record((await app.enqueue("send", {"to": "a"})).job_key)
    typed = await app.job_record((await app.enqueue("send", Letter("b"))).job_key)
    said = await app.enqueue("send", Letter("c"), priority=9, tags=["said"], queue="now", metadata={"both": "call"})
    called = await app.job_record(said.job_key)
    assert (plain.queue, plain.priority, plain.tags, plain.retries) == ("mail", 1, ["of the handler"], 7)
    assert (typed.queue, typed.priority, typed.tags, typed.title) == ("mail", 5, ["of the type"], "to b")
    assert (called.queue, called.priority, called.tags, called.title) == ("now", 9, ["said"], "to c")
    assert typed.metadata == {"handler": "1", "type": "1", "both": "type"}
    assert called.metadata == {"handler": "1", "type": "1", "both": "call"}


@pytest.mark.parametrize("kind", [Struct, Model, Attrs, ByHand])
async def test_any_class_of_arguments_may_have_them(kind):
    async with Procession("memory://") as app:
        job = await app.enqueue("send", kind(to="a"))
        assert job.queue == "letters"


async def test_each_of_many_jobs_has_its_own(app):
    many = await app.enqueue_many("once", [{"to": "a"}, {"to": "b"}, {"to": "a"}])
    assert [answer.outcome for answer in many] == ["INSERTED", "INSERTED", "DUPLICATE"]
    mixed = await app.enqueue_many("send", [{"to": "x"}, Letter("y")])
    assert [(await app.job_record(job.job_key)).priority for job in mixed] == [1, 5]
    await app.run_until_idle()
    assert sorted(app.ran) == ["a", "b", "x", "y"]


async def test_flows_and_recurring_jobs_have_them_too(app):
    flow = await app.enqueue_flow([FlowJob("first", "send", Letter("a"), options={"priority": 3})])
    record = await app.job_record(flow["first"].job_key)
    assert (record.queue, record.priority, record.title) == ("mail", 3, "to a")
    await app.put_recurring(Recurring(name="daily", cycle="@daily", type="send", args=Letter("b")))
    info = await app.recurring_job("daily")
    assert (info.queue, info.priority, info.retries, info.options["title"]) == ("mail", 5, 7, "to b")


async def test_a_moment_that_is_said_takes_the_place_of_a_default_delay(app):
    @job_defaults(delay="1h")
    class Later(msgspec.Struct):
        to: str

    at = datetime(2026, 6, 1, tzinfo=UTC)
    job = await app.enqueue("send", Later("a"), at=at)
    assert (await app.job_record(job.job_key)).run_at == at


async def test_a_default_that_cannot_be_made_of_the_arguments_is_named(app):
    with pytest.raises(InvalidValue, match="default of 'unique' could not be made of the arguments: KeyError"):
        await app.enqueue("once", {"whom": "a"})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"titel": "x"}, "found 'titel'"),
        ({"after": 7}, "found 'after'"),
        ({"batch": 7}, "found 'batch'"),
        ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "found 'at'"),
        ({"deadline": datetime(2026, 1, 1, tzinfo=UTC)}, "found an instant, which passes once"),
        ({"tags": "ab"}, "tags to be a list of texts"),
        ({"limits": [Limit("k")]}, "maximum or a rate"),
    ],
)
def test_what_cannot_be_a_default_is_refused_where_it_is_said(words, message):
    app = Procession("memory://")
    with pytest.raises(Misconfigured, match=f"job handler 'send': .*{message}"):
        app.job("send", **words)(lambda: None)
    with pytest.raises(Misconfigured, match=f"job defaults of Letter: .*{message}"):
        job_defaults(**words)(Letter)


async def test_a_class_attribute_that_is_no_mapping_is_refused():
    class Odd(msgspec.Struct):
        to: str

    Odd.__job_defaults__ = "mail"
    async with Procession("memory://") as app:
        with pytest.raises(Misconfigured, match="__job_defaults__ to be a dict of options, found str"):
            await app.enqueue("send", Odd("a"))
