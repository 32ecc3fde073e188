-- What operators see: the attempts of a job that failed, each with its error; flows that have a title, among the batches.

create table procession.job_attempt (
    job bigint not null,
    lease int not null,
    attempt int not null,
    at bigint not null,
    worker text not null,
    type text not null,
    message text not null,
    primary key (job, lease)
);

alter table procession.job_batch add column is_flow smallint not null default 0;
create index job_batch_flows on procession.job_batch (key) where is_flow = 1;
