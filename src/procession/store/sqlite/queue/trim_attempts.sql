-- Of the attempts of a job only the last so many are kept.
DELETE FROM procession_job_attempt
WHERE (job, lease) IN (
    SELECT job, lease
    FROM (
        SELECT job, lease, row_number() OVER (PARTITION BY job ORDER BY lease DESC) AS place
        FROM procession_job_attempt
        WHERE job IN (SELECT value FROM json_each(?1))
    )
    WHERE place > ?2
)
