-- Jobs without a process that differ in key and arguments only, as bulk enqueuing makes them; reading in each row what
-- they share is a fifth of what the server does for a row. MariaDB's words: MySQL writes such a list in another way.
INSERT INTO procession_job (
    `key`, kind, state, negative_priority, run_at, due_at, retries, queue, type, tenant, args, created_at
)
WITH bulk (`key`, args) AS (VALUES /* rows */ (?, ?) /* rows */)
SELECT `key`, :shared, args, @now FROM bulk
