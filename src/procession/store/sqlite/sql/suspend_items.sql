-- Those that wait, now or for a next try.
UPDATE procession_job SET state = 6
WHERE state IN (0, 2)
    AND key IN (SELECT value FROM procession_batch AS batch, json_each(batch.jobs) WHERE batch.key = :batch)
