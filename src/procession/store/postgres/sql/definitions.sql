-- Definitions by key.
select d.key, d.process_id, d.version, d.name, d.version_tag, d.resource, r.name as resource_name, r.checksum, d.deployment,
       p.deployed_at, d.elements, d.methods, d.tenant, d.deleted_at is not null as deleted
from procession.definition d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.key = any($1::bigint[])
