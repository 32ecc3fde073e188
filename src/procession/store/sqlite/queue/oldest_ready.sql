-- Since when the oldest job of each queue that could be claimed waits.
SELECT
    q.value,
    min(
        coalesce((SELECT min(run_at) FROM procession_job WHERE state = 0 AND queue = q.value), 1 << 62),
        coalesce(
            (SELECT min(run_at) FROM procession_job
             WHERE queue = q.value AND state = 4 AND waits_for IS NULL AND run_at <= ?2),
            1 << 62
        )
    ) % (1 << 62)
FROM json_each(?1) AS q
