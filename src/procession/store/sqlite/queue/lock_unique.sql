-- Who holds these unique keys, which are held until the end of the transaction.
SELECT k.tenant, k.key, k.job, k.until
FROM json_each(?1) AS u
JOIN procession_unique_key AS k ON k.tenant = u.value ->> 'tenant' AND k.key = u.value ->> 'key'
