-- The recurring jobs of a group.
SELECT name FROM procession_recurring WHERE sync_group = json_extract(?1, '$[0]') AND tenant = ?2 ORDER BY name
