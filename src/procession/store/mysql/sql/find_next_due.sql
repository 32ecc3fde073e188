-- When the next job is due: one that waits for its time, or a limited one for its start.
SELECT MIN(due)
FROM (
    (SELECT due_at AS due FROM procession_job FORCE INDEX (due) WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1)
    UNION ALL
    (SELECT MIN(run_at) FROM procession_job FORCE INDEX (line)
     WHERE line >= 'queue ' AND line < 'queue!' AND run_at > @now)
) AS both_kinds
