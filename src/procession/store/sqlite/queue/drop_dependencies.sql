-- These wait for nobody any more.
DELETE FROM procession_dependency WHERE child IN (SELECT value FROM json_each(?1))
