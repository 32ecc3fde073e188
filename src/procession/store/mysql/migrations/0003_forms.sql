-- Forms, versioned as decisions are; which of them a user task shows. Which batch carries on with what another left.

CREATE TABLE IF NOT EXISTS procession_form (
    `key` BIGINT PRIMARY KEY,
    form_id VARCHAR(255) NOT NULL,
    version INT NOT NULL,
    version_tag TEXT NOT NULL,
    resource BIGINT NOT NULL,
    resource_name VARCHAR(255) NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    deployment BIGINT NOT NULL,
    deployed_at BIGINT NOT NULL,
    tenant VARCHAR(255) NOT NULL,
    UNIQUE INDEX version (form_id, tenant, version)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation};

-- Which version of a form a deployment means, whether it made that version or found it.
CREATE TABLE IF NOT EXISTS procession_deployment_form (
    deployment BIGINT NOT NULL,
    form BIGINT NOT NULL,
    PRIMARY KEY (deployment, form)
) ENGINE = InnoDB;

ALTER TABLE procession_user_task ADD COLUMN form BIGINT NOT NULL DEFAULT 0;

-- Null, and so in no one's way, where it carries on with none.
ALTER TABLE procession_batch ADD COLUMN retry_of BIGINT NULL, ADD UNIQUE INDEX retry (retry_of);
