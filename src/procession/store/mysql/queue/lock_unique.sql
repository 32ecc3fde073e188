-- Who holds these unique keys, which are held until the end of the transaction.
SELECT tenant, `key`, job, `until`
FROM procession_unique_key
WHERE /* any */ (tenant = ?tenant AND `key` = ?key) /* any */
ORDER BY tenant, `key`
FOR UPDATE
