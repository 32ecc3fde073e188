-- How late a start may be after its admission without breaking the promise of a rate: as late as the slowest worker says.
-- See jobs/limits.py.

ALTER TABLE procession_limit ADD COLUMN late_us INTEGER NOT NULL DEFAULT 0;
