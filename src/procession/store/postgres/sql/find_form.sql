-- The latest version of a form id, restricted to a version, a tag or a deployment where one is given.
select f.key, f.form_id, f.version, f.version_tag, f.resource, r.name as resource_name, f.checksum, f.deployment,
       p.deployed_at, f.tenant
from procession.form f
join procession.resource r on r.key = f.resource
join procession.deployment p on p.key = f.deployment
where f.tenant = $1 and f.form_id = $2
  and ($3::int = 0 or f.version = $3)
  and ($4 = '' or f.version_tag = $4)
  and ($5::bigint = 0 or f.key in (select form from procession.deployment_form where deployment = $5))
order by f.version desc
limit 1
