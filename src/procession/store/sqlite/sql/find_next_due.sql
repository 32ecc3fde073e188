-- When the next job is due: one that waits for its time, or a limited one for its start.
SELECT coalesce(min(due), 0)
FROM (
    SELECT min(run_at) AS due FROM procession_job WHERE state = 2
    UNION ALL
    SELECT min(run_at) FROM procession_job WHERE state = 4 AND waits_for IS NULL AND run_at > :now
)

