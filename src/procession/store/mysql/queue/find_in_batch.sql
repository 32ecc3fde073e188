-- The keys of members of a batch: at most so many.
SELECT `key` FROM procession_job WHERE batch = :batch ORDER BY `key` LIMIT :most
