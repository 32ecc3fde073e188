-- Counts that are older than they are kept.
DELETE FROM procession_job_stat WHERE `minute` < :b ORDER BY `minute` LIMIT :a
