-- These wait for nobody any more.
DELETE FROM procession_dependency WHERE child IN (:a)
