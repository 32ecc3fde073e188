SELECT
    `key`, rev, definition, process_id, status, state, variables, business_id, parent, parent_element_instance, tags,
    tenant, started_at, ended_at
FROM procession_instance
WHERE `key` IN (:keys)
