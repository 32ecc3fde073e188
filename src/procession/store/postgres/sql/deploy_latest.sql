-- The latest versions of process ids, deleted ones too: a number is not given twice.
select distinct on (d.process_id) d.key, d.process_id, d.version, d.name, d.version_tag, d.resource, r.name as resource_name, r.checksum, d.deployment,
       p.deployed_at, d.elements, d.methods, d.tenant, d.deleted_at is not null as deleted
from procession.definition d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.tenant = $1 and d.process_id = any($2::text[])
order by d.process_id, d.version desc
