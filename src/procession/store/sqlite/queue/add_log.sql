-- Lines of logs.
INSERT INTO procession_job_log (job, number, at, level, text)
SELECT value ->> 'job', value ->> 'number', value ->> 'at', value ->> 'level', value ->> 'text' FROM json_each(?1)
