-- Failed attempts of jobs of an instance stay as long as it does: its history does not tell of them.

alter table procession.job_attempt add column instance bigint not null default 0;
create index job_attempt_instance on procession.job_attempt (instance) where instance <> 0;
