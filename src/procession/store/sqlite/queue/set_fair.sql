-- The last places in line of keys that are held.
UPDATE procession_fair_place
SET place = u.value ->> 'place'
FROM json_each(?1) AS u
WHERE queue = u.value ->> 'queue' AND procession_fair_place.key = u.value ->> 'key'
