-- With no keys given all of them.
SELECT
    `key`, kind, request, state, total, emitted,
    (SELECT COUNT(*) FROM procession_batch_error AS error WHERE error.batch = batch.`key`), `cursor`, jobs,
    created_at, ended_at, tenant, COALESCE(retry_of, 0)
FROM procession_batch AS batch
WHERE (:any_key OR `key` IN (:keys))
    AND (:tenant = '' OR tenant = :tenant)
    AND (:after = 0 OR `key` < :after)
ORDER BY `key` DESC
LIMIT :limit
