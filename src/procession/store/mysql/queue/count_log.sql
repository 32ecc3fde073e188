-- How many lines the logs of jobs have.
SELECT job, COUNT(*) FROM procession_job_log WHERE job IN (:a) GROUP BY job
