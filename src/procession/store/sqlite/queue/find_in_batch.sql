-- The keys of members of a batch: at most so many.
SELECT key FROM procession_job WHERE batch = json_extract(?1, '$[0].batch') ORDER BY key LIMIT json_extract(?1, '$[0].most')
