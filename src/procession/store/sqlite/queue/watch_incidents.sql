-- Incidents by key.
SELECT
    key, instance, element_instance, element, definition, process_id, kind, message, job, created_at, fingerprint,
    tenant
FROM procession_incident
WHERE key IN (SELECT value FROM json_each(?1))
