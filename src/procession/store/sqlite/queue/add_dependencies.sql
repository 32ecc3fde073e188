-- What new jobs come after.
INSERT INTO procession_dependency (child, parent, either, resolved)
SELECT value ->> 'child', value ->> 'parent', value ->> 'either', value ->> 'resolved' FROM json_each(?1)
WHERE true
ON CONFLICT (child, parent) DO NOTHING
