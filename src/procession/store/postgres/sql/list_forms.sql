-- All versions, newest first within each form id.
select f.key, f.form_id, f.version, f.version_tag, f.resource, r.name as resource_name, f.checksum, f.deployment,
       p.deployed_at, f.tenant
from procession.form f
join procession.resource r on r.key = f.resource
join procession.deployment p on p.key = f.deployment
where ($1::bigint = 0 or f.key = $1) and ($2 = '' or f.form_id = $2) and ($3 = '' or f.tenant = $3)
order by f.form_id, f.version desc, f.tenant
