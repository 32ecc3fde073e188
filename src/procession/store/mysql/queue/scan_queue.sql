-- The keys of the jobs of the queue that are meant, the oldest first, among the next rows that are looked at. A negative key is
-- the last row that was looked at, where there may be more.
(SELECT `key`
FROM (SELECT * FROM procession_job WHERE `key` > :after ORDER BY `key` LIMIT :rows) AS looked
WHERE (:state < 0 OR state = :state)
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
LIMIT :limit)
UNION ALL
(SELECT -`key` FROM procession_job WHERE `key` > :after ORDER BY `key` LIMIT 1 OFFSET :skipped)
