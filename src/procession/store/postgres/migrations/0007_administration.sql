-- What operators see: failed jobs are listed without looking at all others, what was enqueued is counted, too, and a
-- recurring job remembers its last firings.

create index job_failed on procession.job (key) where state = 5;
create index job_suspended on procession.job (key) where state = 6;
alter table procession.job_stat add column enqueued bigint not null default 0;
alter table procession.recurring add column firings json;
