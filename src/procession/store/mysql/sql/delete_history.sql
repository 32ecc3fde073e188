DELETE FROM procession_history WHERE instance IN (:keys)
