-- Recurring jobs that are no more.
DELETE FROM procession_recurring
WHERE (tenant, name) IN (SELECT value ->> 'tenant', value ->> 'name' FROM json_each(?1))
