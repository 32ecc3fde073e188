-- The latest version of a process id, restricted to a version, a tag or a deployment where one is given.
select d.key, d.process_id, d.version, d.name, d.version_tag, d.resource, r.name as resource_name, r.checksum, d.deployment,
       p.deployed_at, d.elements, d.methods, d.tenant
from procession.definition d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.tenant = $1 and d.process_id = $2 and d.deleted_at is null
  and ($3::int = 0 or d.version = $3)
  and ($4 = '' or d.version_tag = $4)
  and ($5::bigint = 0 or d.key in (select definition from procession.deployment_definition where deployment = $5))
order by d.version desc
limit 1
