-- The runs of these jobs have ended.
DELETE FROM procession_slot WHERE job IN (:a)
