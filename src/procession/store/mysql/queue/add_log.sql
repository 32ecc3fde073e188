-- Lines of logs.
INSERT INTO procession_job_log (job, number, at, level, text)
VALUES /* rows */ (?job, ?number, ?at, ?level, ?text) /* rows */
