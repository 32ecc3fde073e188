-- What is counted by time for those who ask how much was done: instances, decisions, assignees by the hour; jobs by type
-- and worker by the minute. `id` stands for the texts, which may be long (store/rows/metering.py).

CREATE TABLE IF NOT EXISTS procession_meter (
    at BIGINT NOT NULL,
    id BIGINT NOT NULL,
    times BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    measure SMALLINT NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    name VARCHAR(255) NOT NULL,
    worker VARCHAR(255) NOT NULL,
    detail VARCHAR(255) NOT NULL,
    PRIMARY KEY (at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};
