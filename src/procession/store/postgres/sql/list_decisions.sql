-- All versions, newest first within each decision id.
select d.key, d.decision_id, d.version, d.name, d.version_tag, d.requirements_id, d.resource, r.name as resource_name,
       d.imports, d.checksum, d.deployment, p.deployed_at, d.tenant
from procession.decision d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where ($1 = '' or d.decision_id = $1) and ($2 = '' or d.tenant = $2)
order by d.decision_id, d.version desc, d.tenant
