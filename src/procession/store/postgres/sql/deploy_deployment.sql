-- The deployment itself, and the definitions, decisions and forms that it means.
with d as (
    insert into procession.deployment (key, tenant, deployed_at) values ($1, $2, coalesce($6::timestamptz, now()))
    returning key, deployed_at
), meant as (
    insert into procession.deployment_definition (deployment, definition)
    select $1, definition from unnest($3::bigint[]) as u (definition)
    on conflict do nothing
), meant_decisions as (
    insert into procession.deployment_decision (deployment, decision)
    select $1, decision from unnest($4::bigint[]) as u (decision)
    on conflict do nothing
), meant_forms as (
    insert into procession.deployment_form (deployment, form)
    select $1, form from unnest($5::bigint[]) as u (form)
    on conflict do nothing
)
select deployed_at from d
