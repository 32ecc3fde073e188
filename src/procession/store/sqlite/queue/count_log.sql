-- How many lines the logs of jobs have.
SELECT job, count(*) FROM procession_job_log WHERE job IN (SELECT value FROM json_each(?1)) GROUP BY job
