-- What operators see: the attempts of a job that failed, each with its error; flows that have a title, among the batches.

CREATE TABLE IF NOT EXISTS procession_job_attempt (
    job BIGINT NOT NULL,
    lease INT NOT NULL,
    attempt INT NOT NULL,
    at BIGINT NOT NULL,
    worker VARCHAR(255) NOT NULL,
    type VARCHAR(255) NOT NULL,
    message MEDIUMTEXT NOT NULL,
    PRIMARY KEY (job, lease)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

ALTER TABLE procession_job_batch ADD COLUMN is_flow TINYINT NOT NULL DEFAULT 0;
ALTER TABLE procession_job_batch ADD INDEX flows (is_flow, `key`);
