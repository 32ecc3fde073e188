-- What a new job brings to the holder of its unique key.
UPDATE procession_job
SET args = :args, options = :options, traits = :traits, deadline_at = :deadline_at, type = :type, queue = :queue
WHERE `key` = :key
