-- The latest versions of form ids.
select distinct on (f.form_id) f.key, f.form_id, f.version, f.version_tag, f.resource, r.name as resource_name, f.checksum, f.deployment,
       p.deployed_at, f.tenant
from procession.form f
join procession.resource r on r.key = f.resource
join procession.deployment p on p.key = f.deployment
where f.tenant = $1 and f.form_id = any($2::text[])
order by f.form_id, f.version desc
