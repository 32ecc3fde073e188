-- The queues, of those whose lines these are, that have limited jobs whose start is due.
SELECT DISTINCT queue FROM procession_job FORCE INDEX (line) WHERE line IN (:lines) AND run_at <= @now
