"""A PostgreSQL database as full as one likes, in a minute: a few instances that really ran, copied by SQL.

What is copied is whole for readers: rows of instances, jobs, tasks, subscriptions, incidents, history. The keys inside
of states and events stay those of the instance that ran, so nothing of it can go on.
"""

from __future__ import annotations

from collections.abc import Callable

import asyncpg

from procession import Procession
from procession.testing.bpmn import process

STEPS = 6
SHARES = {"done": 60, "ended": 2, "broken": 3, "asks": 12, "waits": 11, "queued": 12}  # of a hundred instances
COPIED = 5_000  # instances of one statement
ROWS = 4  # keys for the rows of one instance

PARCEL = process("parcel", name="Parcel").start("begin")
for number in range(1, STEPS + 1):
    PARCEL = PARCEL.service(f"step-{number}", type=f"step-{number}", retries=1)
PARCEL = (
    PARCEL.user("approve", groups=["clerks"]).catch("arrives", message="arrived", key="=orderId")
    .service("print", type="print-label").end("over")
).xml()  # fmt: skip
DEFINITION = ("parcel.bpmn", PARCEL)

COPY = """
with copied as (
    select i.key as old, $3::bigint + row_number() over (order by n, i.key) - 1 as new, n
    from {schema}.instance i cross join generate_series(1, $2::int) n
    where i.key = $1
), instances as (
    insert into {schema}.instance (key, definition, parent, parent_element_instance, started_at, ended_at, rev, status,
                                   process_id, business_id, tenant, tags, state, variables)
    select c.new, i.definition, i.parent, i.parent_element_instance,
           i.started_at - c.n * interval '1 second', i.ended_at - c.n * interval '1 second', i.rev, i.status,
           i.process_id, 'B-' || c.new, i.tenant,
           case when c.n % 10 = 0 then array['gold', 'shop'] else array['shop'] end, i.state,
           i.variables || jsonb_build_object('orderId', 'A-' || c.new, 'amount', c.n % 1000)
    from copied c join {schema}.instance i on i.key = c.old
), jobs as (
    insert into {schema}.job (key, instance, element_instance, definition, run_at, created_at, priority, owner, lease,
                              attempt, retries, crashes, kind, state, queue, type, element, tenant, error, args)
    select $3::bigint + 1 * $2::bigint + c.n - 1, c.new, j.element_instance, j.definition, j.run_at, j.created_at,
           j.priority, null, j.lease, j.attempt, j.retries,
           j.crashes, j.kind, j.state, j.queue, j.type, j.element, j.tenant, j.error, j.args
    from copied c join {schema}.job j on j.instance = c.old
), tasks as (
    insert into {schema}.user_task (key, instance, element_instance, definition, created_at, due_at, follow_up_at,
                                    priority, process_id, element, name, assignee, form_key, candidate_users,
                                    candidate_groups, tenant)
    select $3::bigint + 2 * $2::bigint + c.n - 1, c.new, t.element_instance, t.definition, t.created_at, t.due_at,
           t.follow_up_at, t.priority, t.process_id, t.element, t.name,
           case when c.n % 4 = 0 then 'ada' else '' end, t.form_key, t.candidate_users, t.candidate_groups, t.tenant
    from copied c join {schema}.user_task t on t.instance = c.old
), subscriptions as (
    insert into {schema}.subscription (key, instance, element_instance, definition, trigger, once, taken, tenant, name,
                                       correlation_key, process_id, element)
    select $3::bigint + 3 * $2::bigint + c.n - 1, c.new, s.element_instance, s.definition, s.trigger, s.once, s.taken,
           s.tenant, s.name, 'A-' || c.new, s.process_id, s.element
    from copied c join {schema}.subscription s on s.instance = c.old
), incidents as (
    insert into {schema}.incident (key, instance, element_instance, definition, job, created_at, process_id, element,
                                   kind, message, fingerprint, tenant)
    select $3::bigint + 4 * $2::bigint + c.n - 1, c.new, k.element_instance, k.definition, k.job, k.created_at,
           k.process_id, k.element, k.kind, k.message, k.fingerprint || (c.n % 20), k.tenant
    from copied c join {schema}.incident k on k.instance = c.old
)
insert into {schema}.history (instance, definition, at, events)
select c.new, h.definition, h.at - c.n * interval '1 second', h.events
from copied c join {schema}.history h on h.instance = c.old
order by c.new, h.position
"""


async def run_models(app: Procession) -> dict[str, int]:
    """One instance for each state that instances are copied in."""
    keys = {name: await app.start("parcel", _given(name)) for name in SHARES}
    await app.run_until_idle()
    for name in ("done", "queued", "waits"):
        (task,) = await app.user_tasks(process_instance_key=keys[name])
        await app.complete_user_task(task.user_task_key)
    for name in ("done", "queued"):
        await app.publish("arrived", correlation_key=name, ttl="1h")
    await app.run_until_idle()
    (job,) = await app.jobs(process_instance_key=keys["done"])
    await app.complete_job(job.job_key, {"label": "L-1"})
    await app.cancel(keys["ended"])
    await app.run_until_idle()
    return keys


def _given(name: str) -> dict[str, object]:
    items = [{"name": f"part {number}", "price": 10 + number} for number in range(8)]
    return {"orderId": name, "customer": {"name": "Oslo & Sons", "tier": "gold"}, "items": items, "amount": 0}


def handle(app: Procession) -> None:
    """Handlers of the steps; that of one fails for the instance that is to be broken. Nobody prints."""

    def step(number: int) -> Callable[[str], dict[str, object]]:
        def run(order_id: str) -> dict[str, object]:
            if order_id == "broken" and number == 3:
                raise ValueError("expected a weight, found none")
            return {f"result{number}": {"by": f"step {number}", "of": order_id}}

        return run

    for number in range(1, STEPS + 1):
        app.job(f"step-{number}")(step(number))


async def fill(app: Procession, url: str, instances: int) -> dict[str, int]:
    """Copy what has run until there are so many; the keys of the models."""
    models = await run_models(app)
    connection = await asyncpg.connect(url)
    try:
        for name, share in SHARES.items():
            left = instances * share // 100
            while left > 0:
                count = min(left, COPIED)
                left -= count
                keys = await app.rows.take_keys(count + ROWS * count)
                await connection.execute(COPY.format(schema="procession"), models[name], count, keys.start)
        for table in ("instance", "history", "job", "incident", "user_task", "subscription"):
            await connection.execute(f"analyze procession.{table}")
    finally:
        await connection.close()
    return models
