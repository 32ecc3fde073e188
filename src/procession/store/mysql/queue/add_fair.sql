-- Keys of queues that have had no place in line yet.
INSERT INTO procession_fair_place (queue, `key`, place)
VALUES /* rows */ (?queue, ?key, 0) /* rows */
ON DUPLICATE KEY UPDATE queue = VALUES(queue)
