-- The queue beyond plain jobs. The new columns of a job are null where it has no options, which costs no byte. Instants
-- in new columns are milliseconds since the epoch on the database's clock: the rules of limits are arithmetic, written
-- once for all databases.

alter table procession.job
    add column traits int,
    add column options json,
    add column batch bigint,
    add column deadline_at bigint,
    add column ended_at bigint,
    add column waits_for text collate "C",
    add column cancel_reason text,
    add column progress double precision,
    add column progress_text text,
    add column checkpoint json;

create index job_throttled on procession.job (queue, run_at, key) where state = 4 and waits_for is null;
create index job_parked on procession.job (waits_for, priority desc, run_at, key)
    where state = 4 and waits_for is not null;
create index job_deadline on procession.job (deadline_at) where deadline_at is not null and state in (0, 2, 3, 4);
create index job_batch_members on procession.job (batch, key) where batch is not null;
create index job_canceling on procession.job (owner) where cancel_reason is not null;
create index job_awaiting on procession.job (key) where state = 3;

create table procession.job_archive (
    key bigint primary key,
    created_at timestamptz not null,
    run_at timestamptz not null,
    ended_at bigint not null,
    expires_at bigint not null,
    batch bigint,
    priority int not null,
    attempt int not null,
    retries int not null,
    crashes int not null,
    lease int not null,
    kind smallint not null,
    state smallint not null,
    progress double precision,
    queue text collate "C" not null,
    type text collate "C" not null,
    tenant text collate "C",
    error text,
    progress_text text,
    args json,
    output json,
    options json
) with (autovacuum_vacuum_scale_factor = 0.05);
create index job_archive_expiry on procession.job_archive (expires_at);

create table procession.unique_key (
    tenant text collate "C" not null,
    key text collate "C" not null,
    job bigint not null,
    until bigint,
    primary key (tenant, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index unique_key_job on procession.unique_key (job);
create index unique_key_expiry on procession.unique_key (until) where until is not null;

-- The three lines of a rate are in microseconds; see jobs/limits.py. The rows are few and written often.
create table procession.limits (
    key text collate "C" primary key,
    most int not null,
    rate int not null,
    per_ms bigint not null,
    burst int not null,
    reserved_us bigint not null,
    started_us bigint not null,
    moved_us bigint not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.2);

create table procession.slot (
    limit_key text collate "C" not null,
    job bigint not null,
    node int not null,
    primary key (limit_key, job)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index slot_job on procession.slot (job);

create table procession.dependency (
    child bigint not null,
    parent bigint not null,
    either boolean not null,
    resolved boolean not null,
    primary key (child, parent)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index dependency_parent on procession.dependency (parent, child);

create table procession.job_batch (
    key bigint primary key,
    parent bigint not null,
    created_at bigint not null,
    finished_at bigint not null,
    total int not null,
    succeeded int not null,
    failed int not null,
    deleted int not null,
    state smallint not null,
    title text not null,
    tenant text collate "C" not null
) with (fillfactor = 50);
create index job_batch_parent on procession.job_batch (parent) where parent <> 0;

create table procession.recurring (
    tenant text collate "C" not null,
    name text collate "C" not null,
    next_at bigint not null,
    last_at bigint not null,
    last_job bigint not null,
    fired bigint not null,
    created_at bigint not null,
    version int not null,
    missed smallint not null,
    overlap boolean not null,
    paused boolean not null,
    cycle text not null,
    sync_group text collate "C" not null,
    job json not null,
    primary key (tenant, name)
) with (fillfactor = 80);
create index recurring_due on procession.recurring (next_at) where not paused and next_at > 0;

create table procession.job_log (
    job bigint not null,
    number int not null,
    at bigint not null,
    level int not null,
    text text not null,
    primary key (job, number)
);

create table procession.pause (
    kind smallint not null,
    name text collate "C" not null,
    since bigint not null,
    reason text not null,
    primary key (kind, name)
);

-- The last place in line that a key of a queue was given; see fair_key in jobs/options.py.
create table procession.fair_place (
    queue text collate "C" not null,
    key text collate "C" not null,
    place bigint not null,
    primary key (queue, key)
) with (fillfactor = 80);

create table procession.job_stat (
    minute bigint not null,
    queue text collate "C" not null,
    type text collate "C" not null,
    succeeded bigint not null,
    failed bigint not null,
    retried bigint not null,
    run_ms bigint not null,
    primary key (minute, queue, type)
) with (fillfactor = 80);
