-- The queue beyond plain jobs. The new columns of a job are null where it has no options.
--
-- `line` is where a limited job waits: in its queue's line for its start, or in a limit's line for a slot. The three new
-- indexes hold nothing but nulls for jobs without options, in the order of their keys, so that they cost little.

ALTER TABLE procession_job
    ADD COLUMN traits INT NULL,
    ADD COLUMN options MEDIUMTEXT NULL,
    ADD COLUMN batch BIGINT NULL,
    ADD COLUMN deadline_at BIGINT NULL,
    ADD COLUMN ended_at BIGINT NULL,
    ADD COLUMN waits_for VARCHAR(200) NULL,
    ADD COLUMN cancel_reason TEXT NULL,
    ADD COLUMN progress DOUBLE NULL,
    ADD COLUMN progress_text TEXT NULL,
    ADD COLUMN checkpoint MEDIUMTEXT NULL,
    ADD COLUMN line VARCHAR(300) GENERATED ALWAYS AS (
        CASE WHEN state = 4 THEN IF(waits_for IS NULL, CONCAT('queue ', queue), CONCAT('limit ', waits_for)) END
    ) STORED,
    ADD INDEX line (line, negative_priority, run_at),
    ADD INDEX deadline (deadline_at),
    ADD INDEX batch (batch);

CREATE TABLE IF NOT EXISTS procession_job_archive (
    `key` BIGINT PRIMARY KEY,
    kind TINYINT NOT NULL,
    state TINYINT NOT NULL,
    negative_priority INT NOT NULL,
    run_at BIGINT NOT NULL,
    attempt INT NOT NULL,
    retries INT NOT NULL,
    crashes INT NOT NULL,
    lease INT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    batch BIGINT NULL,
    progress DOUBLE NULL,
    queue VARCHAR(255) NOT NULL,
    type VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    error MEDIUMTEXT NOT NULL,
    args MEDIUMTEXT NOT NULL,
    output MEDIUMTEXT NULL,
    options MEDIUMTEXT NULL,
    progress_text TEXT NULL,
    INDEX expiry (expires_at),
    INDEX batch (batch)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_unique_key (
    tenant VARCHAR(255) NOT NULL,
    `key` VARCHAR(200) NOT NULL,
    job BIGINT NOT NULL,
    `until` BIGINT NULL,
    PRIMARY KEY (tenant, `key`),
    INDEX job (job),
    INDEX expiry (`until`)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- The three lines of a rate are in microseconds; see jobs/limits.py.
CREATE TABLE IF NOT EXISTS procession_limit (
    `key` VARCHAR(200) PRIMARY KEY,
    most INT NOT NULL,
    rate INT NOT NULL,
    per_ms BIGINT NOT NULL,
    burst INT NOT NULL,
    reserved_us BIGINT NOT NULL,
    started_us BIGINT NOT NULL,
    moved_us BIGINT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_slot (
    limit_key VARCHAR(200) NOT NULL,
    job BIGINT NOT NULL,
    node BIGINT NOT NULL,
    PRIMARY KEY (limit_key, job),
    INDEX job (job)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_dependency (
    child BIGINT NOT NULL,
    parent BIGINT NOT NULL,
    either TINYINT NOT NULL,
    resolved TINYINT NOT NULL,
    PRIMARY KEY (child, parent),
    INDEX parent (parent, child)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS procession_job_batch (
    `key` BIGINT PRIMARY KEY,
    state TINYINT NOT NULL,
    parent BIGINT NOT NULL,
    total INT NOT NULL,
    succeeded INT NOT NULL,
    failed INT NOT NULL,
    deleted INT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT NOT NULL,
    title MEDIUMTEXT NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    INDEX parent (parent)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_recurring (
    tenant VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    next_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    last_job BIGINT NOT NULL,
    fired BIGINT NOT NULL,
    version BIGINT NOT NULL,
    missed TINYINT NOT NULL,
    overlap TINYINT NOT NULL,
    paused TINYINT NOT NULL,
    created_at BIGINT NOT NULL,
    cycle TEXT NOT NULL,
    sync_group VARCHAR(255) NOT NULL,
    job LONGTEXT NOT NULL,
    PRIMARY KEY (tenant, name),
    INDEX due (paused, next_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_job_log (
    job BIGINT NOT NULL,
    number INT NOT NULL,
    at BIGINT NOT NULL,
    level INT NOT NULL,
    text MEDIUMTEXT NOT NULL,
    PRIMARY KEY (job, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_pause (
    kind TINYINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    since BIGINT NOT NULL,
    reason MEDIUMTEXT NOT NULL,
    PRIMARY KEY (kind, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- The last place in line that a key of a queue was given; see fair_key in jobs/options.py.
CREATE TABLE IF NOT EXISTS procession_fair_place (
    queue VARCHAR(255) NOT NULL,
    `key` VARCHAR(200) NOT NULL,
    place BIGINT NOT NULL,
    PRIMARY KEY (queue, `key`)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_job_stat (
    `minute` BIGINT NOT NULL,
    queue VARCHAR(255) NOT NULL,
    type VARCHAR(255) NOT NULL,
    succeeded BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    retried BIGINT NOT NULL,
    run_ms BIGINT NOT NULL,
    PRIMARY KEY (`minute`, queue, type)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};
