-- Which of these still wait for somebody.
SELECT DISTINCT child FROM procession_dependency WHERE child IN (:a) AND resolved = 0 ORDER BY child
