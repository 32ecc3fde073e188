-- Operations over many instances: where each stands, which jobs of its items are not known to have ended, what failed.

CREATE TABLE IF NOT EXISTS procession_batch (
    `key` BIGINT PRIMARY KEY,
    created_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL DEFAULT 0,
    state TINYINT NOT NULL DEFAULT 0,
    total INT NOT NULL,
    emitted INT NOT NULL DEFAULT 0,
    `cursor` BIGINT NOT NULL DEFAULT 0,
    kind VARCHAR(50) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    request LONGTEXT NOT NULL,
    jobs LONGTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

CREATE TABLE IF NOT EXISTS procession_batch_error (
    batch BIGINT NOT NULL,
    item BIGINT NOT NULL,
    message MEDIUMTEXT NOT NULL,
    PRIMARY KEY (batch, item)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};
