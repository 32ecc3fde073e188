-- What runs that are held say; nulls change nothing.
UPDATE procession_job
SET progress = coalesce(u.value ->> 'progress', progress),
    progress_text = coalesce(u.value ->> 'progress_text', progress_text),
    checkpoint = coalesce(u.value ->> 'checkpoint', checkpoint),
    traits = coalesce(u.value ->> 'traits', traits)
FROM json_each(?1) AS u
WHERE procession_job.key = u.value ->> 'key'
