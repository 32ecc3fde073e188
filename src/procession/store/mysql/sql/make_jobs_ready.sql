-- One with limits is THROTTLED; one that ages gives its priority for a place in line (jobs.options.due_of).
UPDATE procession_job
SET
    run_at = IF(
        traits & 68 = 64,
        GREATEST(
            1,
            run_at - COALESCE(CAST(JSON_EXTRACT(options, '$.priority') AS SIGNED), 0)
                * CAST(JSON_EXTRACT(options, '$.ageing_ms') AS SIGNED)
        ),
        run_at
    ),
    negative_priority = IF(traits & 68 = 64, 0, negative_priority),
    state = IF(traits & 4, 4, 0), owner = 0, due_at = NULL
WHERE `key` IN (:keys)
