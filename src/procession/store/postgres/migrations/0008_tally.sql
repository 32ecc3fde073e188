-- What the history says of each element, counted once: how often it began, was left, was interrupted, and how long it
-- took. A server counts on from where the last one stood; the insides are its own (store/rows/watching.py).

create table procession.tally_cursor (
    only_row boolean primary key default true check (only_row),
    txid bigint not null,
    position bigint not null,
    moved_at bigint not null
);
insert into procession.tally_cursor (txid, position, moved_at) values (0, 0, 0);

create table procession.tally (
    definition bigint not null,
    place int not null,
    measure smallint not null,
    times bigint not null,
    primary key (definition, place, measure)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.2);
