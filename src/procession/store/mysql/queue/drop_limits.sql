-- Limits that are held and have no use.
DELETE FROM procession_limit WHERE `key` IN (:a)
