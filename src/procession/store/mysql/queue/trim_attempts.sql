-- Of the attempts of a job only the last so many are kept.
DELETE old
FROM procession_job_attempt AS old
INNER JOIN (
    SELECT job, lease, ROW_NUMBER() OVER (PARTITION BY job ORDER BY lease DESC) AS place
    FROM procession_job_attempt
    WHERE job IN (:a)
) AS numbered ON old.job = numbered.job AND old.lease = numbered.lease
WHERE numbered.place > :b
