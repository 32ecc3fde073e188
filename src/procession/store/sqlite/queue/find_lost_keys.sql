-- Unique keys whose holders are final or gone.
SELECT k.tenant, k.key
FROM procession_unique_key AS k
LEFT JOIN procession_job AS j ON j.key = k.job
WHERE k.until IS NULL AND (j.key IS NULL OR j.state = 5)
ORDER BY k.tenant, k.key
LIMIT json_extract(?1, '$[0]')
