-- Limits that nobody has used for long; the next job that names one brings its rule again.
DELETE FROM procession_limit
WHERE key IN (
    SELECT l.key FROM procession_limit AS l
    WHERE max(l.reserved_us, l.started_us, l.moved_us) < ?2
        AND NOT EXISTS (SELECT 1 FROM procession_slot AS s WHERE s.limit_key = l.key)
        AND NOT EXISTS (
            SELECT 1 FROM procession_job AS j WHERE j.waits_for = l.key AND j.state = 4 AND j.waits_for IS NOT NULL
        )
    ORDER BY l.key
    LIMIT json_extract(?1, '$[0]')
)
