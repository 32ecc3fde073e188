-- Batches of jobs that are opened.
INSERT INTO procession_job_batch (`key`, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow)
VALUES /* rows */ (?key, 0, ?parent, 0, 0, 0, 0, ?created_at, 0, ?title, ?tenant, ?is_flow) /* rows */
