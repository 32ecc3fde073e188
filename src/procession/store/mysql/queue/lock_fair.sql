-- The last places in line of keys, held until the end of the transaction.
SELECT queue, `key`, place
FROM procession_fair_place
WHERE /* any */ (queue = ?queue AND `key` = ?key) /* any */
ORDER BY queue, `key`
FOR UPDATE
