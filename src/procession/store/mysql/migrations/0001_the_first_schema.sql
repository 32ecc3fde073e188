-- Everything of the first release. The database may be the user's own: every name begins with procession_.
--
-- Instants are milliseconds since the epoch; JSON is kept as text, as it was given. 0 and '' mean "none".
-- Texts compare by bytes, trailing spaces included: {collation} is the server's binary collation without padding.
-- There are no partial indexes here, and each index costs every row of the table: what a query needs rarely is looked up
-- by a column that most rows leave empty, and what a claim needs stands in one index, in claim order.

CREATE TABLE IF NOT EXISTS procession_sequence (
    name VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    `next` BIGINT NOT NULL
) ENGINE = InnoDB;

-- `deploy` is a lock only: one deployment at a time.
INSERT INTO procession_sequence (name, `next`) VALUES ('key', 1), ('deploy', 0);

CREATE TABLE IF NOT EXISTS procession_deployment (
    `key` BIGINT PRIMARY KEY,
    deployed_at BIGINT NOT NULL,
    tenant VARCHAR(255) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_resource (
    `key` BIGINT PRIMARY KEY,
    deployment BIGINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    kind VARCHAR(50) NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    content LONGBLOB NOT NULL,
    INDEX file (checksum)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_definition (
    `key` BIGINT PRIMARY KEY,
    process_id VARCHAR(255) NOT NULL,
    version INT NOT NULL,
    name MEDIUMTEXT NOT NULL,
    version_tag TEXT NOT NULL,
    resource BIGINT NOT NULL,
    deployment BIGINT NOT NULL,
    deployed_at BIGINT NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    elements MEDIUMTEXT NOT NULL,
    methods MEDIUMTEXT NOT NULL,
    UNIQUE INDEX version (process_id, tenant, version)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- Which version of a process a deployment means, whether it made that version or found it.
CREATE TABLE IF NOT EXISTS procession_deployment_definition (
    deployment BIGINT NOT NULL,
    definition BIGINT NOT NULL,
    PRIMARY KEY (deployment, definition)
) ENGINE = InnoDB;

-- The name of the file stands here too, so that a listing of decisions reads one table.
CREATE TABLE IF NOT EXISTS procession_decision (
    `key` BIGINT PRIMARY KEY,
    decision_id VARCHAR(255) NOT NULL,
    version INT NOT NULL,
    name MEDIUMTEXT NOT NULL,
    version_tag TEXT NOT NULL,
    requirements_id TEXT NOT NULL,
    resource BIGINT NOT NULL,
    resource_name VARCHAR(255) NOT NULL,
    imports MEDIUMTEXT NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    deployment BIGINT NOT NULL,
    deployed_at BIGINT NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    UNIQUE INDEX version (decision_id, tenant, version),
    INDEX resource (resource)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- Which version of a decision a deployment means, whether it made that version or found it.
CREATE TABLE IF NOT EXISTS procession_deployment_decision (
    deployment BIGINT NOT NULL,
    decision BIGINT NOT NULL,
    PRIMARY KEY (deployment, decision)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS procession_start_subscription (
    `key` BIGINT PRIMARY KEY,
    definition BIGINT NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    element VARCHAR(255) NOT NULL,
    `trigger` TINYINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    INDEX name (name, tenant),
    INDEX process (process_id, tenant),
    INDEX definition (definition)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- No index covers a column that changes with every step; only the end of an instance moves an entry of `process`, which
-- lists the instances of a process, newest first, and counts them by status.
CREATE TABLE IF NOT EXISTS procession_instance (
    `key` BIGINT PRIMARY KEY,
    rev INT NOT NULL,
    definition BIGINT NOT NULL,
    status TINYINT NOT NULL,
    parent BIGINT NOT NULL,
    parent_element_instance BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    business_id VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    tags MEDIUMTEXT NOT NULL,
    variables LONGTEXT NOT NULL,
    state LONGBLOB NOT NULL,
    INDEX process (process_id, `key`, status),
    INDEX business (business_id),
    INDEX parent (parent)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- The process ids that have an instance started by a message with this correlation key, and which.
CREATE TABLE IF NOT EXISTS procession_start_channel (
    process_id VARCHAR(255) NOT NULL,
    correlation_key VARCHAR(200) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    instance BIGINT NOT NULL,
    PRIMARY KEY (process_id, correlation_key, tenant)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- States are those of jobs.JobState: 0 ready, 1 running, 2 scheduled, 5 failed.
-- `negative_priority`: one index gives the claim order on every version, also those that know no descending columns.
-- `due_at` is `run_at` while the job is scheduled, and null otherwise. Start timers have a definition and no instance.
CREATE TABLE IF NOT EXISTS procession_job (
    `key` BIGINT PRIMARY KEY,
    kind TINYINT NOT NULL,
    state TINYINT NOT NULL,
    negative_priority INT NOT NULL DEFAULT 0,
    run_at BIGINT NOT NULL,
    due_at BIGINT NULL,
    attempt INT NOT NULL DEFAULT 0,
    retries INT NOT NULL,
    lease INT NOT NULL DEFAULT 0,
    owner BIGINT NOT NULL DEFAULT 0,
    crashes INT NOT NULL DEFAULT 0,
    instance BIGINT NOT NULL DEFAULT 0,
    element_instance BIGINT NOT NULL DEFAULT 0,
    definition BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    queue VARCHAR(255) NOT NULL,
    type VARCHAR(255) NOT NULL,
    element VARCHAR(255) NOT NULL DEFAULT '',
    tenant VARCHAR(255) NOT NULL DEFAULT '',
    error MEDIUMTEXT NULL,
    args MEDIUMTEXT NOT NULL,
    INDEX ready (state, queue, negative_priority, run_at, `key`),
    INDEX due (due_at),
    INDEX instance (instance, definition)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- A channel is a number made of tenant, name and correlation key (see _channels.py); everything on the channels of one
-- bucket waits for the bucket's row. The rows are here from the start, so that a lock never inserts and never waits for a gap.
CREATE TABLE IF NOT EXISTS procession_channel_lock (
    bucket SMALLINT PRIMARY KEY
) ENGINE = InnoDB;

INSERT INTO procession_channel_lock (bucket)
SELECT a.d + 10 * b.d + 100 * c.d
FROM (SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
      UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) AS a
CROSS JOIN (SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
      UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) AS b
CROSS JOIN (SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
      UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) AS c
ORDER BY 1;

CREATE TABLE IF NOT EXISTS procession_subscription (
    `key` BIGINT PRIMARY KEY,
    instance BIGINT NOT NULL,
    element_instance BIGINT NOT NULL,
    definition BIGINT NOT NULL,
    `trigger` TINYINT NOT NULL,
    once TINYINT NOT NULL,
    taken TINYINT NOT NULL,
    channel BIGINT NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    element VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    correlation_key VARCHAR(200) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    INDEX channel (channel, `key`),
    INDEX instance (instance)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- process_ids: those that have had the message (JSON); process_id: the only one that may have it, of one offered again.
CREATE TABLE IF NOT EXISTS procession_message (
    `key` BIGINT PRIMARY KEY,
    published_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    channel BIGINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    correlation_key VARCHAR(200) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    message_id VARCHAR(200) NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    process_ids MEDIUMTEXT NOT NULL,
    variables LONGTEXT NOT NULL,
    INDEX channel (channel, published_at, `key`),
    INDEX expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- Ids of messages whose time to live is not over, buffered or not: another message of the same id is a duplicate.
-- `identity` is a digest of tenant, name, correlation key and message id, which are too long together for an index.
CREATE TABLE IF NOT EXISTS procession_message_id (
    identity BINARY(16) PRIMARY KEY,
    message BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    INDEX expiry (expires_at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS procession_incident (
    `key` BIGINT PRIMARY KEY,
    instance BIGINT NOT NULL,
    element_instance BIGINT NOT NULL,
    definition BIGINT NOT NULL,
    job BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    element VARCHAR(255) NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    kind VARCHAR(255) NOT NULL,
    message MEDIUMTEXT NOT NULL,
    fingerprint VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    INDEX instance (instance)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_user_task (
    `key` BIGINT PRIMARY KEY,
    instance BIGINT NOT NULL,
    element_instance BIGINT NOT NULL,
    definition BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    follow_up_at BIGINT NOT NULL,
    priority INT NOT NULL,
    created_at BIGINT NOT NULL,
    element VARCHAR(255) NOT NULL,
    name MEDIUMTEXT NOT NULL,
    process_id VARCHAR(255) NOT NULL,
    assignee VARCHAR(255) NOT NULL,
    candidate_users MEDIUMTEXT NOT NULL,
    candidate_groups MEDIUMTEXT NOT NULL,
    form_key VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    INDEX instance (instance),
    INDEX assignee (assignee)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- One row per step. InnoDB keeps the counter over restarts: a position is never used again.
CREATE TABLE IF NOT EXISTS procession_history (
    position BIGINT AUTO_INCREMENT PRIMARY KEY,
    instance BIGINT NOT NULL,
    definition BIGINT NOT NULL,
    at BIGINT NOT NULL,
    events LONGTEXT NOT NULL,
    INDEX instance (instance)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_node (
    node BIGINT AUTO_INCREMENT PRIMARY KEY,
    name TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    beat_at BIGINT NOT NULL,
    details MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_leader (
    one TINYINT PRIMARY KEY,
    node BIGINT NOT NULL,
    term BIGINT NOT NULL,
    `until` BIGINT NOT NULL
) ENGINE = InnoDB;

INSERT INTO procession_leader (one, node, term, `until`) VALUES (1, 0, 0, 0);

-- For people who ask in SQL: one row per event. An event is an array, its name first; `element` is the id of the
-- element that it names, where it names one.
CREATE OR REPLACE VIEW procession_history_event AS
SELECT
    history.position,
    event.number,
    history.instance,
    history.definition,
    history.at,
    event.event,
    JSON_UNQUOTE(JSON_EXTRACT(
        definition.elements,
        CONCAT('$[', CASE
            WHEN event.event IN ('joined', 'removed', 'triggered') THEN event.first
            WHEN event.event IN (
                'activated', 'passed', 'parked', 'deferred', 'compensable', 'warning', 'decision'
            ) THEN event.second
            WHEN event.event IN ('timer', 'subscribed') THEN event.third
        END, ']')
    )) AS element,
    JSON_EXTRACT(history.events, CONCAT('$[', event.number - 1, ']')) AS data
FROM procession_history AS history
CROSS JOIN JSON_TABLE(
    history.events, '$[*]' COLUMNS (
        number FOR ORDINALITY,
        event VARCHAR(50) PATH '$[0]',
        first INT PATH '$[1]' NULL ON EMPTY NULL ON ERROR,
        second INT PATH '$[2]' NULL ON EMPTY NULL ON ERROR,
        third INT PATH '$[3]' NULL ON EMPTY NULL ON ERROR
    )
) AS event
LEFT JOIN procession_definition AS definition ON definition.`key` = history.definition;
