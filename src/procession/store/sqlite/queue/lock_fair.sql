-- The last places in line of keys, held until the end of the transaction.
SELECT p.queue, p.key, p.place
FROM json_each(?1) AS u
JOIN procession_fair_place AS p ON p.queue = u.value ->> 'queue' AND p.key = u.value ->> 'key'
