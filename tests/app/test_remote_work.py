"""Workers that are other processes take jobs under leases of their own; each is ended once, or comes back."""

from __future__ import annotations

import asyncio

import pytest

from procession import Limit, Procession
from procession.errors import Conflict, InvalidValue, NotFound
from procession.testing.bpmn import process

PAY = (
    process("order")
    .start()
    .service("pay", type="charge-card", retries=3, headers={"region": "eu"})
    .end("done")
    .boundary("declined", on="pay", error="card-declined")
    .end("refused")
    .xml()
)


async def start(app: Procession, **variables) -> int:
    await app.deploy(("order.bpmn", PAY))
    return await app.start("order", variables, business_id="A-17")


async def take(app: Procession, *, lease: str = "30s", **options):
    """What a claim brings now; the crank makes the claim."""
    waiting = asyncio.create_task(app.activate_jobs("charge-card", timeout=lease, **options))
    await asyncio.sleep(0)
    await app.run_until_idle()
    return await waiting


async def test_a_remote_worker_takes_a_job_and_completes_it(app, clock):
    key = await start(app, amount=12)
    (job,) = await take(app)
    assert (job.process_instance_key, job.element_id, job.type) == (key, "pay", "charge-card")
    assert (job.variables, job.custom_headers, job.retries, job.attempt) == ({"amount": 12}, {"region": "eu"}, 3, 1)
    assert job.deadline.timestamp() * 1000 == clock.now + 30_000
    assert job.business_id == "A-17"
    await app.complete_job(job.job_key, {"receipt": "R-1"})
    found = await app.instance(key)
    assert (found.instance.state, found.variables) == ("COMPLETED", {"amount": 12, "receipt": "R-1"})
    with pytest.raises(NotFound):
        await app.complete_job(job.job_key)


async def test_a_job_is_given_to_one_worker_only_until_its_lease_ends(app, clock):
    """Scenarios 112 and 113: a worker that fell silent loses its job to another, whose attempt is the second."""
    await start(app)
    (first,) = await take(app)
    assert await take(app) == []
    clock.turn(30_000)
    (second,) = await take(app)
    assert (second.job_key, second.lease, second.attempt) == (first.job_key, 2, 2)
    with pytest.raises(Conflict):
        await app.complete_job(first.job_key, lease=first.lease)
    with pytest.raises(Conflict):
        await app.fail_job(first.job_key, lease=first.lease, retries=1)
    await app.complete_job(second.job_key, lease=second.lease)


async def test_a_worker_that_goes_away_before_the_delivery_gives_its_job_back_at_once(app):
    """Scenario 116."""
    await start(app)
    waiting = asyncio.create_task(app.activate_jobs("charge-card", timeout="1h", wait=60))
    await asyncio.sleep(0)
    claiming = asyncio.create_task(app.run_until_idle())
    while app.remote.delivered == 0:  # noqa: ASYNC110 - the very moment between the claim and the answer
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await claiming
    await app.run_until_idle()
    assert app.remote.waiting == 0
    (job,) = await take(app)
    assert job.attempt == 1  # the first run was none


async def test_jobs_that_could_not_be_sent_are_ready_at_once(app):
    """Scenario 116: the answer did not reach the worker."""
    await start(app)
    jobs = await take(app, lease="1h")
    app.return_jobs(jobs)
    await app.run_until_idle()
    (again,) = await take(app)
    assert (again.job_key, again.attempt) == (jobs[0].job_key, 1)


async def test_many_workers_wait_in_line_and_share_what_comes(app):
    await app.deploy(("order.bpmn", PAY))
    for _ in range(5):
        await app.start("order")
    workers = [asyncio.create_task(app.activate_jobs("charge-card", count=2, timeout="30s")) for _ in range(4)]
    await asyncio.sleep(0)
    await app.run_until_idle()
    shares = [len(jobs) for jobs in await asyncio.gather(*workers)]
    assert shares == [2, 2, 1, 0]


async def test_a_failure_with_retries_left_comes_back_after_its_backoff(app, clock):
    key = await start(app)
    (job,) = await take(app)
    await app.fail_job(job.job_key, retries=2, message="no route to host", backoff="10s", variables={"why": "net"})
    assert await take(app) == []
    clock.turn(10_000)
    (again,) = await take(app)
    assert (again.retries, again.attempt, again.variables) == (2, 2, {"why": "net"})
    assert (await app.instance(key)).variables == {}  # local to the task


async def test_a_failure_without_retries_is_an_incident_and_can_be_resolved(app):
    key = await start(app)
    (job,) = await take(app)
    await app.fail_job(job.job_key, message="the bank said no")
    (incident,) = await app.incidents()
    assert (incident.process_instance_key, incident.job_key) == (key, job.job_key)
    assert "the bank said no" in incident.error_message
    with pytest.raises(Conflict):
        await app.fail_job(job.job_key, retries=3)
    await app.resolve(incident.incident_key, retries=1)
    (again,) = await take(app)
    await app.complete_job(again.job_key)
    assert (await app.instance(key)).instance.state == "COMPLETED"


async def test_a_modelled_error_goes_the_way_of_the_diagram(app):
    key = await start(app)
    (job,) = await take(app)
    await app.throw_error(job.job_key, "card-declined", "stolen", lease=job.lease)
    assert "refused" in {event.element_id for event in await app.history(key)}
    assert (await app.instance(key)).instance.state == "COMPLETED"


async def test_a_lease_is_made_longer_and_only_under_its_own_number(app, clock):
    await start(app)
    (job,) = await take(app)
    await app.update_job(job.job_key, timeout="10m", retries=7, lease=job.lease)
    clock.turn(60_000)
    assert await take(app) == []
    with pytest.raises(Conflict):
        await app.update_job(job.job_key, timeout="10m", lease=job.lease + 1)
    clock.turn(540_000)
    (again,) = await take(app)
    assert again.retries == 7
    with pytest.raises(NotFound):
        await app.update_job(12345, retries=1)


async def test_a_worker_gets_jobs_of_its_tenants_only(make):
    acme, ours = make(tenant_id="acme"), make()
    await acme.open(run_workers=False, migrate=True)
    await start(acme)
    assert await take(acme, tenants=["initech"]) == []
    (job,) = await take(acme)
    assert job.tenant_id == "acme"
    del ours


async def test_what_a_worker_asks_for_is_looked_at_at_once(app):
    for wrong in ({"count": 0}, {"timeout": 0}, {"type": ""}):
        with pytest.raises(InvalidValue):
            await app.activate_jobs(**{"type": "charge-card", **wrong})


@pytest.mark.parametrize("url", ["memory", "sqlite"], indirect=True)
async def test_a_waiting_worker_is_woken_by_the_start_of_an_instance(url, tmp_path):
    (tmp_path / "a b").mkdir()
    async with Procession(url) as app:
        await app.deploy(("order.bpmn", PAY))
        waiting = asyncio.create_task(app.activate_jobs("charge-card", wait=30))
        await asyncio.sleep(0.05)
        before = asyncio.get_running_loop().time()
        await app.start("order")
        (job,) = await waiting
        assert asyncio.get_running_loop().time() - before < 2
        await app.complete_job(job.job_key)


@pytest.mark.parametrize("url", ["memory"], indirect=True)
async def test_two_thousand_workers_that_wait_cost_one_claim_at_a_time(url):
    async with Procession(url) as app:
        workers = [asyncio.create_task(app.activate_jobs(f"type-{n % 7}", wait=30)) for n in range(2_000)]
        await asyncio.sleep(0.3)
        assert app.remote.waiting == 2_000
        wants = app.remote.wants()
        assert sorted(want.queue for want in wants) == [f"$job:type-{n}" for n in range(7)]
        for want in wants:
            app.remote.release(want.queue, want.count)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        assert app.remote.waiting == 0
        assert app.remote.wants() == []


async def test_a_plain_job_and_so_one_with_limits_is_never_given_to_a_worker_elsewhere(app):
    """Only jobs of processes are, which have no limits: a lease that is nobody's could not give its slot back."""
    gentle = Limit("card-server", most=1)
    await app.enqueue_many("charge-card", [{}, {}], limits=[gentle])
    await app.enqueue("charge-card")
    assert await take(app, count=10) == []
    await start(app)
    (job,) = await take(app, count=10)
    assert job.element_id == "pay"
    assert [(each.used, each.waiting) for each in await app.limits()] == [(0, 2)]


async def test_what_a_worker_elsewhere_could_not_do_is_kept_as_an_attempt(app):
    await start(app)
    (job,) = await take(app)
    await app.fail_job(job.job_key, retries=2, message="the card server is down")
    (attempt,) = await app.job_attempts(job.job_key)
    assert (attempt.attempt, attempt.worker, attempt.message) == (1, "remote worker", "the card server is down")
    await app.fail_job((await take(app))[0].job_key, retries=0, message="the card is void")
    assert [each.attempt for each in await app.job_attempts(job.job_key)] == [1, 2]
    (incident,) = await app.incidents()
    await app.resolve(incident.incident_key, retries=2)
    (job,) = await take(app)
    await app.complete_job(job.job_key)
    assert (await app.sweep())["lost_rows"] == 0
    with pytest.raises(NotFound):
        await app.job_attempts(job.job_key)
