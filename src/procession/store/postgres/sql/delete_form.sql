-- A version with its file, which is all of it.
with f as (
    delete from procession.form where key = $1::bigint returning key, resource
), m as (
    delete from procession.deployment_form where form in (select key from f)
), r as (
    delete from procession.resource where key in (select resource from f)
)
select key from f
