-- A page of the jobs of the queue, oldest first.
SELECT
    `key`, kind, state, queue, type, instance, -negative_priority, run_at, attempt, retries, crashes, lease, owner,
    COALESCE(error, ''), created_at, COALESCE(ended_at, 0), args, '', options, COALESCE(traits, 0),
    COALESCE(progress, 0.0), COALESCE(progress_text, ''), checkpoint, cancel_reason, COALESCE(waits_for, ''), tenant
FROM procession_job
WHERE `key` > :after
    AND (:state < 0 OR state = :state)
    AND (:queue = '' OR queue = :queue)
    AND (:type = '' OR type = :type)
    AND (:tenant = '' OR tenant = :tenant)
    AND (:batch = 0 OR batch = :batch)
    AND (:owner = 0 OR owner = :owner)
    AND (:any_kind OR kind IN (:kinds))
    AND (:tag = '' OR JSON_CONTAINS(options, :tag_json, '$.tags'))
    AND (
        :text = ''
        OR LOWER(JSON_UNQUOTE(JSON_EXTRACT(options, '$.title'))) LIKE :text ESCAPE '!'
        OR LOWER(type) LIKE :text ESCAPE '!'
        OR LOWER(error) LIKE :text ESCAPE '!'
        OR LOWER(args) LIKE :text ESCAPE '!'
    )
ORDER BY `key`
LIMIT :limit
