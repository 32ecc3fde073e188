-- Unique keys that were held for a time, which is over.
DELETE FROM procession_unique_key WHERE `until` IS NOT NULL AND `until` <= :b ORDER BY `until` LIMIT :a
