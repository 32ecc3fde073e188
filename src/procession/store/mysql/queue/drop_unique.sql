-- Unique keys that nobody can hold.
DELETE FROM procession_unique_key WHERE /* any */ (tenant = ?tenant AND `key` = ?key) /* any */
