-- The oldest buffered messages of a channel that a process id may still have.
SELECT
    `key`, name, correlation_key, variables, expires_at, tenant, process_id, process_ids, published_at
FROM procession_message
WHERE channel = :channel AND name = :name AND correlation_key = :correlation_key AND tenant = :tenant AND expires_at > @now
    AND process_id IN ('', :process_id) AND NOT JSON_CONTAINS(process_ids, :wanted)
ORDER BY published_at, `key`
LIMIT :count
