-- All queues that have limited jobs whose start is due.
SELECT DISTINCT queue
FROM procession_job FORCE INDEX (line)
WHERE line >= 'queue ' AND line < 'queue!' AND run_at <= @now
