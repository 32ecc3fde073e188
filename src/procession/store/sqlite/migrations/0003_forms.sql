-- Forms, versioned as decisions are; which of them a user task shows. Which batch carries on with what another left.

CREATE TABLE procession_form (
    key INTEGER PRIMARY KEY,
    form_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    version_tag TEXT NOT NULL,
    resource INTEGER NOT NULL,
    resource_name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    deployment INTEGER NOT NULL,
    deployed_at INTEGER NOT NULL,
    tenant TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX procession_form_version ON procession_form (form_id, tenant, version);

-- Which version of a form a deployment means, whether it made that version or found it.
CREATE TABLE procession_deployment_form (
    deployment INTEGER NOT NULL,
    form INTEGER NOT NULL,
    PRIMARY KEY (deployment, form)
) STRICT, WITHOUT ROWID;

ALTER TABLE procession_user_task ADD COLUMN form INTEGER NOT NULL DEFAULT 0;

ALTER TABLE procession_batch ADD COLUMN retry_of INTEGER;
CREATE UNIQUE INDEX procession_batch_retry ON procession_batch (retry_of) WHERE retry_of IS NOT NULL;
