-- Instants are timestamptz on the database's own clock. Keys are given by the program (see ids.py), except positions,
-- node numbers and terms. Null stands for "none" where a column is not part of a key. Texts in indexes compare by bytes:
-- faster than by any language's rules, in the same order as in the program, and no index breaks with a new libc.

-- A row, not a sequence: blocks are of any size, and none is lost when a server's cached values are.
create table procession.key_counter (
    only_row boolean primary key default true check (only_row),
    next bigint not null
);
insert into procession.key_counter (next) values (1);

-- Definitions --------------------------------------------------------------------------------------------------------

create table procession.deployment (
    key bigint primary key,
    tenant text collate "C" not null,
    deployed_at timestamptz not null
);

create table procession.resource (
    key bigint primary key,
    deployment bigint not null,
    name text collate "C" not null,
    kind text not null,
    checksum text not null,
    content bytea not null
);

create table procession.definition (
    key bigint primary key,
    tenant text collate "C" not null,
    process_id text collate "C" not null,
    version int not null,
    name text collate "C" not null,
    version_tag text not null,
    resource bigint not null,
    deployment bigint not null,
    elements text[] not null,
    methods text[] not null,
    unique (tenant, process_id, version)
);

-- Which definitions a deployment meant: those it made, and those that were there already.
create table procession.deployment_definition (
    deployment bigint not null,
    definition bigint not null,
    primary key (deployment, definition)
);

-- The checksum is the decision's: of its file and what that imports.
create table procession.decision (
    key bigint primary key,
    tenant text collate "C" not null,
    decision_id text collate "C" not null,
    version int not null,
    name text collate "C" not null,
    version_tag text not null,
    requirements_id text not null,
    resource bigint not null,
    imports bigint[] not null,
    checksum text not null,
    deployment bigint not null,
    unique (tenant, decision_id, version)
);

-- Which decisions a deployment meant: those it made, and those that were there already.
create table procession.deployment_decision (
    deployment bigint not null,
    decision bigint not null,
    primary key (deployment, decision)
);

-- Instances ----------------------------------------------------------------------------------------------------------

-- JSON: `variables` is jsonb, because people query it; what is only handed on (events, arguments, message variables) is
-- json, kept to the byte. For 230 bytes of events on PostgreSQL 18: json 2.2 us and 305 bytes of log per row, jsonb 4.9 us
-- and 498, bytea 1.6 us and 305. For 131 bytes of variables: json 1.4 us and 201, jsonb 3.1 us and 281.
--
-- No index covers a column that changes with a step, and half of a page is kept for the next revisions, so that steps
-- are heap-only updates. Instances that start together end together: with 70 only six in ten were, at 8 % more log.
create table procession.instance (
    key bigint primary key,
    definition bigint not null,
    parent bigint,
    parent_element_instance bigint,
    started_at timestamptz not null,
    ended_at timestamptz,
    rev int not null,
    status smallint not null,
    process_id text collate "C" not null,
    business_id text collate "C",
    tenant text collate "C",
    tags text[],
    state bytea not null,
    variables jsonb not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index instance_process on procession.instance (process_id, key);
create index instance_business on procession.instance (business_id, key) where business_id is not null;
create index instance_parent on procession.instance (parent, key) where parent is not null;
create index instance_tags on procession.instance using gin (tags) where tags is not null;

-- Which instance holds a process id and correlation key: one instance at a time per message start event and key.
create table procession.start_channel (
    tenant text collate "C" not null,
    process_id text collate "C" not null,
    correlation_key text collate "C" not null,
    instance bigint not null,
    primary key (tenant, process_id, correlation_key)
);

-- One row per committed step; time-partitioning is for a later migration, with retention.
-- Positions say the order within an instance. Across instances only (txid, position) is an order without gaps that
-- fill up later; see sql/history_since.sql.
create table procession.history (
    position bigint generated always as identity,
    txid xid8 not null default pg_current_xact_id(),
    instance bigint not null,
    definition bigint not null,
    at timestamptz not null,
    events json not null
);
create index history_instance on procession.history (instance, position);
create index history_horizon on procession.history (txid, position);

-- Jobs ---------------------------------------------------------------------------------------------------------------

-- States as in jobs/kinds.py: 0 ready, 1 running, 2 scheduled, 5 failed.
create table procession.job (
    key bigint primary key,
    instance bigint,
    element_instance bigint,
    definition bigint,
    run_at timestamptz not null,
    created_at timestamptz not null,
    priority int not null,
    owner int,
    lease int not null,
    attempt int not null,
    retries int not null,
    crashes int not null default 0,
    kind smallint not null,
    state smallint not null,
    queue text collate "C" not null,
    type text not null,
    element text,
    tenant text collate "C",
    error text,
    args json
) with (
    -- A busy queue turns its table over in seconds: vacuum by number of dead rows, not by share of the table.
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
    autovacuum_vacuum_cost_delay = 0
);
create index job_ready on procession.job (queue, priority desc, run_at, key) where state = 0;
create index job_due on procession.job (run_at) where state = 2;
create index job_running on procession.job (owner) where state = 1;
create index job_instance on procession.job (instance) where instance is not null;
create index job_start_timer on procession.job (definition) where kind = 3 and instance is null;

-- What waits ---------------------------------------------------------------------------------------------------------

-- Instance null: a start event. Taken: a message is on its way to it, no other may be.
create table procession.subscription (
    key bigint primary key,
    instance bigint,
    element_instance bigint,
    definition bigint not null,
    trigger smallint not null,
    once boolean not null,
    taken boolean not null default false,
    tenant text collate "C" not null,
    name text collate "C" not null,
    correlation_key text collate "C" not null,
    process_id text collate "C" not null,
    element text not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index subscription_waiting
    on procession.subscription (tenant, name, trigger, correlation_key, process_id, key)
    where instance is not null and not taken;
create index subscription_start on procession.subscription (tenant, name, trigger) where instance is null;
create index subscription_process on procession.subscription (tenant, process_id) where instance is null;
create index subscription_instance on procession.subscription (instance) where instance is not null;

-- A buffered message: process_ids are those that it went to already and that get it no second time; process_id is the
-- only one that may have it, of a message that is offered again.
create table procession.message (
    key bigint primary key,
    published_at timestamptz not null,
    expires_at timestamptz not null,
    tenant text collate "C" not null,
    name text collate "C" not null,
    correlation_key text collate "C" not null,
    message_id text collate "C" not null,
    process_id text collate "C" not null,
    process_ids text[] not null,
    variables json not null
) with (autovacuum_vacuum_scale_factor = 0.05);
create index message_channel on procession.message (tenant, name, correlation_key, published_at, key);
create index message_expiry on procession.message (expires_at);

-- Ids of messages whose time to live is not over, buffered or not: another message of the same id is a duplicate.
create table procession.message_id (
    message bigint not null,
    expires_at timestamptz not null,
    tenant text collate "C" not null,
    name text collate "C" not null,
    correlation_key text collate "C" not null,
    message_id text collate "C" not null,
    primary key (tenant, name, correlation_key, message_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index message_id_expiry on procession.message_id (expires_at);

create table procession.incident (
    key bigint primary key,
    instance bigint not null,
    element_instance bigint not null,
    definition bigint not null,
    job bigint,
    created_at timestamptz not null,
    process_id text collate "C" not null,
    element text not null,
    kind text not null,
    message text not null,
    fingerprint text not null,
    tenant text collate "C"
);
create index incident_instance on procession.incident (instance);
create index incident_process on procession.incident (process_id, key);

create table procession.user_task (
    key bigint primary key,
    instance bigint not null,
    element_instance bigint not null,
    definition bigint not null,
    created_at timestamptz not null,
    due_at timestamptz,
    follow_up_at timestamptz,
    priority int not null,
    process_id text collate "C" not null,
    element text not null,
    name text collate "C" not null,
    assignee text collate "C" not null,
    form_key text not null,
    candidate_users text[] not null,
    candidate_groups text[] not null,
    tenant text collate "C"
);
create index user_task_instance on procession.user_task (instance);
create index user_task_assignee on procession.user_task (assignee, key) where assignee <> '';
create index user_task_groups on procession.user_task using gin (candidate_groups);

-- Nodes --------------------------------------------------------------------------------------------------------------

-- Beats and terms of office are worth nothing after a crash of the database, so these tables are not logged: they come
-- back empty, processes enter anew, and their old jobs belong to unknown nodes. Numbers must not come back, so the
-- sequences are logged.
create sequence procession.node_number as int;
create sequence procession.leader_term;

create unlogged table procession.node (
    node int primary key,
    name text collate "C" not null,
    started_at timestamptz not null,
    beat_at timestamptz not null,
    details json not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.2);

create unlogged table procession.lease (
    name text primary key,
    node int not null,
    term bigint not null,
    until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.2);

-- For people ---------------------------------------------------------------------------------------------------------

-- The history with one row per event. An event is a JSON array: its tag, then its fields in order (core/events.py);
-- a test compares the places of the element indexes here with the fields there.
create view procession.history_event as
select h.position,
       e.ordinal,
       h.instance,
       h.definition,
       h.at,
       e.event ->> 0 as event,
       d.elements[1 + (e.event ->> case
           when e.event ->> 0 in ('joined', 'removed', 'triggered') then 1
           when e.event ->> 0 in ('activated', 'passed', 'parked', 'deferred', 'compensable', 'warning',
                                  'decision') then 2
           when e.event ->> 0 in ('timer', 'subscribed') then 3
       end)::int] as element,
       e.event as fields
from procession.history h
cross join lateral json_array_elements(h.events) with ordinality as e (event, ordinal)
left join procession.definition d on d.key = h.definition;
