-- All versions, newest first within each process id.
select d.key, d.process_id, d.version, d.name, d.version_tag, d.resource, r.name as resource_name, r.checksum, d.deployment,
       p.deployed_at, d.elements, d.methods, d.tenant
from procession.definition d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.deleted_at is null and ($1 = '' or d.process_id = $1) and ($2 = '' or d.tenant = $2)
order by d.process_id, d.version desc, d.tenant
