-- The latest versions of decision ids.
select distinct on (d.decision_id) d.key, d.decision_id, d.version, d.name, d.version_tag, d.requirements_id, d.resource, r.name as resource_name,
       d.imports, d.checksum, d.deployment, p.deployed_at, d.tenant
from procession.decision d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.tenant = $1 and d.decision_id = any($2::text[])
order by d.decision_id, d.version desc
