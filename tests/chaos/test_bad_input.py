"""Bad input under load: a clear refusal that says what and where, nothing written, and neighbours unharmed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from procession import Procession
from procession.engine import Settings
from procession.errors import InvalidModel, InvalidValue, NotFound, Rejected
from procession.limits import NAME_BYTES_MAX, RESOURCE_BYTES_MAX
from procession.testing.bpmn import process, resource
from tests.support.servers import SERVERS

NEIGHBOURS = 16
QUICK = Settings(promote_poll_ms_max=50, claim_poll_ms_max=50)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


BAD_VALUES = {
    "a NUL": ({"a": {"b": ["x\0y"]}}, r"a\.b\[0\]"),
    "a lone surrogate": ({"a": {"b": "\ud800"}}, r"a\.b"),
    "a NUL in a name": ({"a\0": 1}, "NUL"),
    "not a number": ({"a": [1.0, float("nan")]}, r"a\[1\]"),
    "infinity": ({"a": float("-inf")}, r"\.a"),
    "a huge integer": ({"a": 2**64}, r"\.a|64 bits"),
    "5 MB": ({"a": "x" * 5_000_000}, "VARIABLES_BYTES_MAX"),
    "depth": ({"a": nested(250)}, "JSON_DEPTH_MAX"),
    "more depth than Python's": ({"a": nested(100_000)}, "JSON_DEPTH_MAX|depth|recursion"),
    "an object": ({"a": object()}, r"\.a.*object"),
    "names that are no texts": ({"a": {(1, 2): 3}}, r"\.a|names"),
}


HALF = 'string join(for i in 1..1000 return "' + "x" * 850 + '")'
GROW = f"=for i in 1..6 return {HALF}"  # together more than any variables may be
MODEL = resource(
    process("job").start().service("answer").end(),
    process("method").start().task("count").end(),
    process("user").start().user("wait").end(),
    process("grows").start().catch("soon", timer="PT0.05S").script("grow", GROW, result="big").end(),
    process("told").start().catch("word", message="word", key="=id").script("grow", GROW, result="big").end(),
    process("calls").start().call("child", process="small").script("grow", GROW, result="big").end(),
    process("small").start().end(),
)


@pytest.fixture(params=["memory", "sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path) -> str:
    match request.param:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{tmp_path / 'bad.db'}"
        case _:
            return request.getfixturevalue(f"{request.param}_url")


@pytest_asyncio.fixture
async def app(url: str) -> AsyncIterator[Procession]:
    """An application whose handlers answer with what their instance asks for."""
    made = Procession(url, history="full", settings=QUICK)

    @made.job("answer", retries=1)
    async def answer(kind: str) -> Any:
        return BAD_VALUES[kind][0] if kind else {"ok": True}

    @made.method("count")
    def count(kind: str) -> Any:
        return BAD_VALUES[kind][0] if kind else {"ok": True}

    await made.open(migrate=True)
    await made.deploy(("bad.bpmn", MODEL))
    yield made
    await made.close()


async def count(app: Procession) -> int:
    return sum((await app.count_instances()).values())


@pytest.mark.parametrize("kind", BAD_VALUES)
async def test_a_start_with_a_bad_value_is_refused_and_its_neighbours_start(app: Procession, kind: str):
    value, words = BAD_VALUES[kind]
    good = [app.start("job", {"kind": "", "n": number}) for number in range(NEIGHBOURS)]
    bad = [app.start("user", value), app.publish("m", variables=value, ttl=60)]
    *keys, start, publish = await asyncio.gather(*good, *bad, return_exceptions=True)
    for refused in (start, publish):
        assert isinstance(refused, InvalidValue), refused
        with pytest.raises(InvalidValue, match=words):
            raise refused
    for key in keys:
        assert (await app.wait(key, timeout=20)).state == "COMPLETED"
    assert await count(app) == NEIGHBOURS
    assert await app.messages() == []


@pytest.mark.parametrize("kind", BAD_VALUES)
@pytest.mark.parametrize("model", ["job", "method"])
async def test_a_result_with_a_bad_value_is_an_incident_and_its_neighbours_end(app: Procession, kind: str, model: str):
    bad, *good = await asyncio.gather(
        app.start(model, {"kind": kind}), *(app.start(model, {"kind": ""}) for _ in range(NEIGHBOURS))
    )
    for key in good:
        assert (await app.wait(key, timeout=20)).state == "COMPLETED"
    async with asyncio.timeout(20):
        while not (incidents := await app.incidents(process_instance_key=bad)):  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.01)
    with pytest.raises(InvalidValue, match=BAD_VALUES[kind][1]):
        raise InvalidValue(incidents[0].error_message)
    assert (await app.instance(bad)).variables == {"kind": kind}


@pytest.mark.parametrize("kind", BAD_VALUES)
async def test_commands_with_bad_values_change_nothing(app: Procession, kind: str):
    value, words = BAD_VALUES[kind]
    key = await app.start("user", {"a": 1})
    (task,) = await app.user_tasks(process_instance_key=key)
    with pytest.raises(InvalidValue, match=words):
        await app.set_variables(key, value)
    with pytest.raises(InvalidValue, match=words):
        await app.complete_user_task(task.user_task_key, value)
    with pytest.raises(InvalidValue, match=words):
        await app.broadcast("s", value)
    assert (await app.instance(key)).variables == {"a": 1}
    await app.complete_user_task(task.user_task_key)
    assert (await app.wait(key, timeout=20)).state == "COMPLETED"


BAD_TEXTS = ["x\0", "\ud800", "x" * (NAME_BYTES_MAX + 1)]


@pytest.mark.parametrize("text", BAD_TEXTS, ids=["NUL", "surrogate", "long"])
async def test_bad_names_are_refused_and_nothing_is_written(app: Procession, text: str):
    for refused in (
        app.start(text),
        app.start("user", business_id=text),
        app.start("user", tags=[text]),
        app.publish(text, ttl=60),
        app.publish("m", correlation_key=text, ttl=60),
        app.publish("m", message_id=text, ttl=60),
        app.broadcast(text),
    ):
        with pytest.raises(Rejected):
            await refused
    assert await count(app) == 0
    assert await app.messages() == []


async def test_what_is_not_there_is_named(app: Procession):
    with pytest.raises(NotFound, match="'nowhere'"):
        await app.start("nowhere")
    with pytest.raises(NotFound, match="version 7"):
        await app.start("user", version=7)
    for refused in (app.cancel(5), app.set_variables(5, {"a": 1}), app.resolve(5), app.complete_user_task(5)):
        with pytest.raises(NotFound, match="5"):
            await refused
    assert await count(app) == 0


LAUGHS = b"""<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="&c;"/></definitions>"""
BAD_FILES = {
    "a billion laughs": LAUGHS,
    "an external entity": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><definitions>&a;</definitions>',
    "depth": b"<a>" * 5_000 + b"</a>" * 5_000,
    "too large": b"<a>" + b" " * RESOURCE_BYTES_MAX + b"</a>",
    "no XML": b"\x00\xff\x00 nothing",
    "nothing": b"",
    "half": process("half").start().user("wait").end().xml()[:-60],
    "no BPMN": b"<html/>",
}


@pytest.mark.parametrize("kind", BAD_FILES)
async def test_a_bad_file_is_refused_with_its_name_and_so_are_those_deployed_with_it(app: Procession, kind: str):
    before = await app.definitions()
    good = process("fine").start().end().xml()
    starting = [app.start("job", {"kind": ""}) for _ in range(NEIGHBOURS)]
    *keys, refused = await asyncio.gather(
        *starting, app.deploy(("fine.bpmn", good), ("evil.bpmn", BAD_FILES[kind])), return_exceptions=True
    )
    assert isinstance(refused, InvalidModel | InvalidValue), refused
    with pytest.raises(Rejected, match=r"evil\.bpmn"):
        raise refused
    assert await app.definitions() == before
    for key in keys:
        assert (await app.wait(key, timeout=20)).state == "COMPLETED"


@pytest.mark.parametrize("model", ["grows", "told", "calls"])
async def test_what_grows_too_large_by_itself_is_kept_as_a_failed_job_that_says_why(app: Procession, model: str):
    key = await app.start(model, {"id": "1"})
    if model == "told":
        await app.publish("word", correlation_key="1", ttl=60)
    async with asyncio.timeout(20):
        while not (failed := await app.jobs(state="FAILED")):  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.02)
    assert "VARIABLES_BYTES_MAX" in failed[0].error_message
    assert (await app.instance(key)).instance.state == "ACTIVE"
