-- Which of these still wait for somebody.
SELECT DISTINCT child FROM procession_dependency WHERE child IN (SELECT value FROM json_each(?1)) AND resolved = 0 ORDER BY child
