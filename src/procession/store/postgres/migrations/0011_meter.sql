-- What is counted by time for those who ask how much was done: instances, decisions, assignees by the hour; jobs by type
-- and worker by the minute. `id` stands for the texts, which may be long (store/rows/metering.py).

create table procession.meter (
    at bigint not null,
    id bigint not null,
    times bigint not null,
    last_at bigint not null,
    measure smallint not null,
    tenant text not null,
    name text not null,
    worker text not null,
    detail text not null,
    primary key (at, id)
) with (fillfactor = 70);
