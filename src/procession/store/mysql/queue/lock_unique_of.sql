-- Hold the unique keys of these jobs until the end of the transaction.
SELECT tenant, `key` FROM procession_unique_key WHERE job IN (:a) ORDER BY tenant, `key` FOR UPDATE
