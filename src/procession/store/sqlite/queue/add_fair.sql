-- Keys of queues that have had no place in line yet.
INSERT INTO procession_fair_place (queue, key, place)
SELECT value ->> 'queue', value ->> 'key', 0 FROM json_each(?1)
WHERE true
ON CONFLICT (queue, key) DO NOTHING
