SELECT batch, item, message
FROM procession_batch_error
WHERE batch = :batch AND item > :after
ORDER BY item
LIMIT :limit
