-- With no keys given all of them.
SELECT
    key, kind, CAST(request AS BLOB), state, total, emitted,
    (SELECT count(*) FROM procession_batch_error AS error WHERE error.batch = batch.key), cursor,
    (SELECT json_group_array(job.key) FROM procession_job AS job
     WHERE job.key IN (SELECT value FROM json_each(batch.jobs))),
    created_at, ended_at, tenant, coalesce(retry_of, 0)
FROM procession_batch AS batch
WHERE (:keys = '[]' OR key IN (SELECT value FROM json_each(:keys)))
    AND (:tenant = '' OR tenant = :tenant)
    AND (:after = 0 OR key < :after)
ORDER BY key DESC
LIMIT :limit
