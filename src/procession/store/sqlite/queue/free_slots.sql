-- The runs of these jobs have ended.
DELETE FROM procession_slot WHERE job IN (SELECT value FROM json_each(?1))
