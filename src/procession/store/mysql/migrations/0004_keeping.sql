-- What an edge keeps beside the engine's rows: tokens, an audit log, small documents. The insides are its own.

CREATE TABLE IF NOT EXISTS procession_kept (
    kind VARCHAR(50) NOT NULL,
    `key` BIGINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    created_at BIGINT NOT NULL,
    body LONGBLOB NOT NULL,
    PRIMARY KEY (kind, `key`),
    INDEX name (kind, name, `key`)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};
