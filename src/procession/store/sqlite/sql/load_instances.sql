SELECT
    key, rev, definition, process_id, status, state, CAST(variables AS BLOB), business_id, parent,
    parent_element_instance, tags, tenant, started_at, ended_at
FROM procession_instance
WHERE key IN (SELECT value FROM json_each(:keys))
