"""Codecs: what jobs are given, give back and leave is encrypted or compressed where it is stored."""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession import Compression, Encryption, FlowJob, Job, Procession, Recurring, trace_jobs
from procession.errors import InvalidValue, Misconfigured, Unreadable
from procession.jobs.codec import is_encoded, seal, unseal
from procession.testing import Rehearsal

OLD, NEW = os.urandom(32), os.urandom(16)
SECRET = "the cake is a lie"


def job_handlers(app: Procession, seen: list) -> Procession:
    @app.job("keep", retries=2, backoff="0s")
    async def keep(job: Job, text: str) -> dict[str, str]:
        seen.append((text, job.state))
        await job.checkpoint({"at": text})
        if job.attempt == 1:
            raise ConnectionError("once more")
        return {"text": text}

    @app.job("gather")
    async def gather(job: Job) -> None:
        seen.extend(parent.output for parent in await job.parents())

    @app.job("number", retries=3)
    async def number(n: int) -> None:
        seen.append(n)

    return app


@pytest.fixture
def app(make: Callable[..., Procession]) -> Procession:
    app = make(codec=Encryption({"old": OLD, "new": NEW}, current="new", compress=True))
    app.seen = []
    return job_handlers(app, app.seen)


async def _open(app: Procession) -> Procession:
    return await app.open(run_workers=False, migrate=True)


async def test_arguments_results_and_checkpoints_are_stored_encrypted_and_read_by_handlers(app):
    await _open(app)
    job = await app.enqueue("keep", {"text": SECRET}, output=True)
    row = await app._store.job(job.job_key)
    assert is_encoded(row.args)
    await app.run_until_idle()
    assert app.seen == [(SECRET, None), (SECRET, {"at": SECRET})]
    row = await app._store.job(job.job_key)
    assert is_encoded(row.output)
    assert SECRET not in repr(row)
    record = await app.job_record(job.job_key)
    assert (record.args, record.output) == ({"text": SECRET}, {"text": SECRET})
    assert [one.args for one in await app.job_records(state="succeeded")] == [{"text": SECRET}]


async def test_those_that_come_after_read_what_came_before(app):
    await _open(app)
    await app.enqueue_flow([FlowJob("a", "keep", {"text": "a"}), FlowJob("b", "gather", after=["a"])])
    await app.run_until_idle()
    assert app.seen[-1] == {"text": "a"}


async def test_what_does_not_decode_fails_at_once_and_shows_nothing(app, caplog):
    caplog.set_level(logging.DEBUG)
    await _open(app)
    job = await app.enqueue("number", {"n": SECRET})
    missing = await app.enqueue("number", {SECRET: 1})
    await app.run_until_idle()
    for key in (job.job_key, missing.job_key):
        record = await app.job_record(key)
        assert (record.state, record.attempt) == ("FAILED", 1)
        assert "parameter 'n'" in record.error_message
        assert "stored encoded and not shown" in record.error_message
        assert SECRET not in record.error_message
    assert SECRET not in caplog.text


async def test_a_recurring_job_that_is_declared_again_is_the_same(app):
    await _open(app)
    daily = Recurring(name="daily", cycle="@daily", type="number", args={"n": 1})
    assert await app.put_recurring(daily) == ["daily"]
    assert await app.put_recurring(daily) == []
    assert await app.put_recurring(msgspec.structs.replace(daily, args={"n": 2})) == ["daily"]
    assert (await app.recurring_job("daily")).args == {"n": 2}
    await app.trigger_recurring("daily")
    await app.run_until_idle()
    assert app.seen == [2]


@pytest.mark.parametrize(
    ("codec", "message"),
    [
        (None, "Expected a codec to read the arguments of job"),
        (Encryption({"new": NEW}), "Expected the key 'old', with which it was encrypted, found 'new'"),
        (Encryption({"old": os.urandom(32)}), "the key is another one of that id"),
        (Compression(), "Expected what Compression writes"),
    ],
)
async def test_without_the_key_a_job_fails_at_once_and_says_which(codec, message, tmp_path: Path, caplog):
    url, seen = f"sqlite:///{tmp_path / 'jobs.db'}", []
    async with job_handlers(Procession(url, codec=Encryption({"old": OLD})), seen) as before:
        job = await before.enqueue("keep", {"text": SECRET}, queue="later", delay="1h")
    after = job_handlers(Procession(url, codec=codec), seen)

    @after.job("anything", queue="later")
    async def anything(**rest: object) -> None: ...

    await after.open(run_workers=False)
    await after.requeue(job.job_key)
    await after.run_until_idle()
    record = await after.job_record(job.job_key)
    assert (record.state, record.attempt, seen) == ("FAILED", 1, [])
    assert message in record.error_message
    assert set(record.args) == {"$encoded"}
    assert SECRET not in caplog.text
    await after.close()


async def test_a_rotated_key_reads_what_the_one_before_has_written(tmp_path: Path):
    url, seen = f"sqlite:///{tmp_path / 'jobs.db'}", []
    async with job_handlers(Procession(url, codec=Encryption({"old": OLD})), seen) as before:
        await before.enqueue("number", {"n": 1}, delay="0.01s")
    both = Encryption({"old": OLD, "new": NEW}, current="new")
    after = job_handlers(Procession(url, codec=both), seen)
    await after.open(run_workers=False)
    newer = await after.enqueue("number", {"n": 2}, delay="1h")
    row = await after._store.job(newer.job_key)
    assert Encryption({"new": NEW}).decode(_data(row.args)) == b'{"n":2}'
    await after.close()
    async with job_handlers(Procession(url, codec=both), seen) as last:
        await last.requeue(newer.job_key)
        while len(seen) < 2:
            await last.run_until_idle()
    assert sorted(seen) == [1, 2]


def _data(stored: bytes) -> bytes:
    return msgspec.json.decode(stored, type=dict[str, bytes])["$encoded"]


async def test_sizes_are_those_of_what_is_stored():
    app = Procession("memory://", codec=Encryption({"a": NEW}))

    @app.job("big", retries=1)
    async def big(job: Job, text: str = "") -> str:
        with pytest.raises(InvalidValue, match="CHECKPOINT_BYTES_MAX"):
            await job.checkpoint("x" * 1_000_000)
        return "x" * 1_000_000

    await app.open(run_workers=False)
    with pytest.raises(InvalidValue, match="JOB_ARGS_BYTES_MAX"):
        await app.enqueue("big", {"text": "x" * 1_000_000})
    job = await app.enqueue("big", output=True)
    await app.run_until_idle()
    assert "as it is stored (JOB_OUTPUT_BYTES_MAX)" in (await app.job_record(job.job_key)).error_message
    await app.close()


async def test_compression_makes_room_within_the_limits():
    app, seen = Procession("memory://", codec=Compression()), []
    job_handlers(app, seen)
    await app.open(run_workers=False)
    await app.enqueue("keep", {"text": "x" * 2_000_000})
    await app.run_until_idle()
    assert [len(text) for text, _ in seen] == [2_000_000] * 2
    await app.close()


async def test_a_rehearsal_reads_what_was_enqueued():
    app, seen = Procession("memory://", codec=Encryption({"a": NEW})), []
    job_handlers(app, seen)
    async with Rehearsal(app) as rehearsal:
        await app.enqueue("number", {"n": 4})
        rehearsal.assert_enqueued("number", args={"n": 4})
        await rehearsal.drain()
        rehearsal.assert_no_failures()
    assert seen == [4]


def test_a_transaction_of_the_callers_gets_encrypted_jobs(tmp_path: Path):
    app = Procession(f"sqlite:///{tmp_path / 'jobs.db'}", codec=Encryption({"a": NEW}))
    with app.sync, closing(sqlite3.connect(tmp_path / "jobs.db")) as connection:
        app.sync.enqueue("keep", {"text": SECRET}, connection=connection)
        app.sync.enqueue("keep", {"text": SECRET}, title="t", connection=connection)
        connection.commit()
        dump = "\n".join(connection.iterdump())
    assert SECRET not in dump
    assert "$encoded" in dump


async def test_an_object_that_looks_encoded_is_refused_where_nothing_is():
    async with Procession("memory://") as app:
        with pytest.raises(InvalidValue, match=r"first name is '\$encoded'"):
            await app.enqueue("keep", {"$encoded": "aGk="})


@given(st.binary(max_size=3_000), st.booleans())
def test_what_is_encrypted_is_read_again_and_no_byte_of_it_can_be_changed(data: bytes, compress: bool):
    codec = Encryption({"k": NEW}, compress=compress)
    sealed = codec.encode(data)
    assert codec.decode(sealed) == data
    for place in range(0, len(sealed), 7):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(Unreadable):
            codec.decode(bytes(changed))


@given(st.binary(max_size=5_000))
def test_what_is_compressed_is_read_again(data: bytes):
    codec = Compression(least=10)
    assert codec.decode(codec.encode(data)) == data
    assert unseal(codec, seal(codec, data, "it"), "it") == data


def test_two_encryptions_of_one_value_differ():
    codec = Encryption({"k": NEW})
    assert codec.encode(b"x") != codec.encode(b"x")


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b'{"$encoded":7}', "no base 64"),
        (b'{"$encoded":"?"}', "no base 64"),
        (b'{"$encoded":""}', "Expected what Encryption writes"),
        (b'{"$encoded":"AQABaw=="}', "does not fit"),
    ],
)
def test_what_somebody_has_changed_is_no_value(stored: bytes, message: str):
    with pytest.raises(Unreadable, match=message):
        unseal(Encryption({"k": NEW}), stored, "the arguments of job 7")


def test_a_codec_of_ones_own_that_fails_tells_nothing_of_what_it_read():
    class Rot:
        def encode(self, data: bytes) -> bytes:
            return data[::-1]

        def decode(self, data: bytes) -> bytes:
            raise ValueError(SECRET)

    with pytest.raises(Unreadable, match="the codec raised ValueError") as refusal:
        unseal(Rot(), seal(Rot(), b"{}", "it"), "it")
    assert SECRET not in str(refusal.value)


def test_a_small_text_that_becomes_a_huge_one_is_refused():
    bomb = Compression(least=0).encode(b"0" * (5 * 1024 * 1024))
    with pytest.raises(Unreadable, match="DECODED_BYTES_MAX"):
        Compression().decode(bomb)


@pytest.mark.parametrize(
    ("keys", "current", "message"),
    [
        ({}, "", "current to be the id of one of the keys .none., found ''"),
        ({"a": NEW, "b": OLD}, "", "one of the keys .'a', 'b'."),
        ({"a": NEW}, "b", "found 'b'"),
        ({"a": b"short"}, "", "16, 24 or 32 bytes, found 5 bytes"),
        ({"a": "text" * 4}, "", "16, 24 or 32 bytes, found str"),
        ({"k" * 201: NEW}, "", "id of a key to take 1 to 200 bytes"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_showing_them(keys, current, message):
    with pytest.raises(Misconfigured, match=message) as refusal:
        Encryption(keys, current=current)
    assert "short" not in str(refusal.value)
    assert "text" not in str(refusal.value)


@pytest.mark.parametrize(
    ("package", "ask", "extra"),
    [
        ("cryptography", lambda: Encryption({"a": NEW}), "encryption"),
        ("opentelemetry", lambda: trace_jobs(Procession("memory://")), "tracing"),
    ],
)
def test_without_its_package_it_says_what_brings_it(package, ask, extra, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Misconfigured, match=rf"pip install 'procession\[{extra}\]' brings it"):
        ask()


def test_its_repr_shows_ids_and_no_keys():
    assert repr(Encryption({"a": NEW})) == "<Encryption with a>"
