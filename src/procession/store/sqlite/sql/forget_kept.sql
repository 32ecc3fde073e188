DELETE FROM procession_kept
WHERE kind = :kind AND (key IN (SELECT value FROM json_each(:keys)) OR key < :before)
RETURNING key
