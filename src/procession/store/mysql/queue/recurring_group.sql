-- The recurring jobs of a group.
SELECT name FROM procession_recurring WHERE sync_group = :a AND tenant = :b ORDER BY name
