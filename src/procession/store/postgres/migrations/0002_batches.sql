-- Operations over many instances: where each stands, which jobs of its items are not known to have ended, what failed.

create table procession.batch (
    key bigint primary key,
    created_at timestamptz not null,
    ended_at timestamptz,
    state smallint not null default 0,
    total int not null,
    emitted int not null default 0,
    cursor bigint not null default 0,
    kind text not null,
    tenant text collate "C" not null,
    request json not null,
    jobs bigint[] not null default '{}'
);

create table procession.batch_error (
    batch bigint not null,
    item bigint not null,
    message text not null,
    primary key (batch, item)
);
