-- What an edge keeps beside the engine's rows: tokens, an audit log, small documents. The insides are its own.

create table procession.kept (
    kind text collate "C" not null,
    key bigint not null,
    created_at timestamptz not null,
    name text collate "C" not null,
    tenant text not null,
    body bytea not null,
    primary key (kind, key)
);

create index kept_name on procession.kept (kind, name, key);
