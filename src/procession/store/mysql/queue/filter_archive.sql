-- Which of these jobs of the archive are meant, by key.
SELECT `key`
FROM procession_job_archive
WHERE `key` IN (:keys)
    AND (:state < 0 OR state = :state)
    AND (:queue = '' OR queue = :queue)
    AND (:type = '' OR type = :type)
    AND (:tenant = '' OR tenant = :tenant)
    AND (:batch = 0 OR batch = :batch)
    AND (:owner = 0 OR 0 = :owner)
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
