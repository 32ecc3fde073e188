-- The latest version of a decision id, restricted to a version, a tag or a deployment where one is given.
select d.key, d.decision_id, d.version, d.name, d.version_tag, d.requirements_id, d.resource, r.name as resource_name,
       d.imports, d.checksum, d.deployment, p.deployed_at, d.tenant
from procession.decision d
join procession.resource r on r.key = d.resource
join procession.deployment p on p.key = d.deployment
where d.tenant = $1 and d.decision_id = $2
  and ($3::int = 0 or d.version = $3)
  and ($4 = '' or d.version_tag = $4)
  and ($5::bigint = 0 or d.key in (select decision from procession.deployment_decision where deployment = $5))
order by d.version desc
limit 1
