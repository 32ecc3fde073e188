DELETE FROM procession_kept
WHERE kind = :kind AND (`key` IN (:keys) OR `key` < :before)
