-- Everything of the first release. Instants are milliseconds since the epoch; JSON is kept as text, as it was given.
-- The file may be the user's own: every name begins with procession_, so that none meets one of theirs.
-- States stand as numbers (jobs.JobState), because a partial index is only used where the query has the same literal.

CREATE TABLE procession_sequence (
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO procession_sequence (name, next) VALUES ('key', 1);

CREATE TABLE procession_deployment (
    key INTEGER PRIMARY KEY,
    deployed_at INTEGER NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE TABLE procession_resource (
    key INTEGER PRIMARY KEY,
    deployment INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    checksum TEXT NOT NULL,
    tenant TEXT NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE INDEX procession_resource_file ON procession_resource (tenant, name, checksum);

CREATE TABLE procession_definition (
    key INTEGER PRIMARY KEY,
    process_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    version_tag TEXT NOT NULL,
    resource INTEGER NOT NULL,
    deployment INTEGER NOT NULL,
    deployed_at INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    elements TEXT NOT NULL,
    methods TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX procession_definition_version ON procession_definition (process_id, tenant, version);

-- Which version of a process a deployment means, whether it made that version or found it.
CREATE TABLE procession_deployment_definition (
    deployment INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    PRIMARY KEY (deployment, definition)
) STRICT, WITHOUT ROWID;

-- The name of the file stands here too, so that a listing of decisions reads one table.
CREATE TABLE procession_decision (
    key INTEGER PRIMARY KEY,
    decision_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    version_tag TEXT NOT NULL,
    requirements_id TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    imports TEXT NOT NULL,
    checksum TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    deployed_at INTEGER NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX procession_decision_version ON procession_decision (decision_id, tenant, version);

-- Which version of a decision a deployment means, whether it made that version or found it.
CREATE TABLE procession_deployment_decision (
    deployment INTEGER NOT NULL,
    decision INTEGER NOT NULL,
    PRIMARY KEY (deployment, decision)
) STRICT, WITHOUT ROWID;

CREATE TABLE procession_start_subscription (
    key INTEGER PRIMARY KEY,
    definition INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    element TEXT NOT NULL,
    "trigger" INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE INDEX procession_start_subscription_name ON procession_start_subscription (name, tenant);
CREATE INDEX procession_start_subscription_process ON procession_start_subscription (process_id, tenant);

-- No index on a column that changes with every step.
CREATE TABLE procession_instance (
    key INTEGER PRIMARY KEY,
    rev INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    status INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    parent_element_instance INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    business_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    tags TEXT NOT NULL,
    variables TEXT NOT NULL,
    state BLOB NOT NULL
) STRICT;

-- Lists the instances of a process, newest first, and counts all by status without reading them (100,000 instances of
-- 1 KB take 20 ms instead of 300). Only the start and the end of an instance write it, not the steps between.
CREATE INDEX procession_instance_process ON procession_instance (process_id, key, status);
CREATE INDEX procession_instance_business_id ON procession_instance (business_id) WHERE business_id <> '';
CREATE INDEX procession_instance_parent ON procession_instance (parent) WHERE parent <> 0;

-- The process ids that have an instance started by a message with this correlation key, and which.
CREATE TABLE procession_start_channel (
    process_id TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    instance INTEGER NOT NULL,
    PRIMARY KEY (process_id, correlation_key, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE procession_job (
    key INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    owner INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    instance INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    queue TEXT NOT NULL,
    type TEXT NOT NULL,
    element TEXT NOT NULL,
    tenant TEXT NOT NULL,
    error TEXT NOT NULL,
    args TEXT NOT NULL
) STRICT;

CREATE INDEX procession_job_ready ON procession_job (queue, priority DESC, run_at, key) WHERE state = 0;
CREATE INDEX procession_job_running ON procession_job (owner) WHERE state = 1;
CREATE INDEX procession_job_scheduled ON procession_job (run_at) WHERE state = 2;
CREATE INDEX procession_job_failed ON procession_job (key) WHERE state = 5;
CREATE INDEX procession_job_instance ON procession_job (instance) WHERE instance <> 0;
CREATE INDEX procession_job_start_timer ON procession_job (definition) WHERE instance = 0 AND kind = 3;

CREATE TABLE procession_subscription (
    key INTEGER PRIMARY KEY,
    instance INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    "trigger" INTEGER NOT NULL,
    once INTEGER NOT NULL,
    taken INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    element TEXT NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE INDEX procession_subscription_channel ON procession_subscription (name, correlation_key, tenant) WHERE taken = 0;
CREATE INDEX procession_subscription_instance ON procession_subscription (instance);

-- taken_by: the process ids that have had the message (JSON). spent: offered to nobody any more, its id still counts.
CREATE TABLE procession_message (
    key INTEGER PRIMARY KEY,
    published_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    name TEXT NOT NULL,
    correlation_key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    message_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    taken_by TEXT NOT NULL,
    variables TEXT NOT NULL
) STRICT;

CREATE INDEX procession_message_channel ON procession_message (name, correlation_key, tenant);
CREATE INDEX procession_message_expiry ON procession_message (expires_at);
CREATE UNIQUE INDEX procession_message_once ON procession_message (message_id, name, correlation_key, tenant)
    WHERE message_id <> '';

CREATE TABLE procession_incident (
    key INTEGER PRIMARY KEY,
    instance INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    job INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    element TEXT NOT NULL,
    process_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE INDEX procession_incident_instance ON procession_incident (instance);

CREATE TABLE procession_user_task (
    key INTEGER PRIMARY KEY,
    instance INTEGER NOT NULL,
    element_instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    follow_up_at INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    element TEXT NOT NULL,
    name TEXT NOT NULL,
    process_id TEXT NOT NULL,
    assignee TEXT NOT NULL,
    candidate_users TEXT NOT NULL,
    candidate_groups TEXT NOT NULL,
    form_key TEXT NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE INDEX procession_user_task_instance ON procession_user_task (instance);
CREATE INDEX procession_user_task_assignee ON procession_user_task (assignee) WHERE assignee <> '';

-- One row per step. AUTOINCREMENT: a position is never used again, even after the newest rows were deleted.
CREATE TABLE procession_history (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    instance INTEGER NOT NULL,
    definition INTEGER NOT NULL,
    at INTEGER NOT NULL,
    events TEXT NOT NULL
) STRICT;

CREATE INDEX procession_history_instance ON procession_history (instance);

CREATE TABLE procession_node (
    node INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    beat_at INTEGER NOT NULL,
    details TEXT NOT NULL
) STRICT;

CREATE TABLE procession_leader (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    node INTEGER NOT NULL,
    term INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;

INSERT INTO procession_leader (one, node, term, until) VALUES (1, 0, 0, 0);

-- For people who ask in SQL: one row per event. An event is an array, its name first; `element` is the id of the
-- element that it names, where it names one.
CREATE VIEW procession_history_event AS
SELECT
    history.position,
    event.key AS number,
    history.instance,
    history.definition,
    history.at,
    json_extract(event.value, '$[0]') AS event,
    json_extract(
        definition.elements,
        '$[' || json_extract(
            event.value,
            CASE json_extract(event.value, '$[0]')
                WHEN 'joined' THEN '$[1]'
                WHEN 'removed' THEN '$[1]'
                WHEN 'triggered' THEN '$[1]'
                WHEN 'activated' THEN '$[2]'
                WHEN 'passed' THEN '$[2]'
                WHEN 'parked' THEN '$[2]'
                WHEN 'deferred' THEN '$[2]'
                WHEN 'compensable' THEN '$[2]'
                WHEN 'warning' THEN '$[2]'
                WHEN 'decision' THEN '$[2]'
                WHEN 'timer' THEN '$[3]'
                WHEN 'subscribed' THEN '$[3]'
            END
        ) || ']'
    ) AS element,
    event.value AS data
FROM procession_history AS history
CROSS JOIN json_each(history.events) AS event
LEFT JOIN procession_definition AS definition ON definition.key = history.definition;
