-- How late a start may be after its admission without breaking the promise of a rate: as late as the slowest worker says.
-- See jobs/limits.py.

alter table procession.limits add column late_us bigint not null default 0;
