-- Forms, versioned as decisions are; which of them a user task shows. Which batch carries on with what another left.

create table procession.form (
    key bigint primary key,
    tenant text collate "C" not null,
    form_id text collate "C" not null,
    version int not null,
    version_tag text not null,
    resource bigint not null,
    checksum text not null,
    deployment bigint not null,
    unique (tenant, form_id, version)
);

-- Which forms a deployment meant: those it made, and those that were there already.
create table procession.deployment_form (
    deployment bigint not null,
    form bigint not null,
    primary key (deployment, form)
);

alter table procession.user_task add column form bigint not null default 0;

alter table procession.batch add column retry_of bigint;
create unique index batch_retry on procession.batch (retry_of) where retry_of is not null;
