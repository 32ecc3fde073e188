-- What runs that are held say; nulls change nothing.
UPDATE procession_job
SET
    progress = COALESCE(:progress, progress), progress_text = COALESCE(:progress_text, progress_text),
    checkpoint = COALESCE(:checkpoint, checkpoint), traits = COALESCE(:traits, traits)
WHERE `key` = :key
