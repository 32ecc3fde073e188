-- Counts that are older than they are kept.
DELETE FROM procession_job_stat
WHERE (minute, queue, type) IN (
    SELECT minute, queue, type FROM procession_job_stat WHERE minute < ?2 ORDER BY minute LIMIT json_extract(?1, '$[0]')
)
