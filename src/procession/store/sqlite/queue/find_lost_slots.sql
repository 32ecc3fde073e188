-- Slots of jobs that do not run.
SELECT s.limit_key, s.job
FROM procession_slot AS s
LEFT JOIN procession_job AS j ON j.key = s.job
WHERE j.state IS NOT 1
ORDER BY s.limit_key, s.job
LIMIT json_extract(?1, '$[0]')
