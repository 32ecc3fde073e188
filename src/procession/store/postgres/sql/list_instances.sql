-- A page of instances, newest first. Planned anew each time, so that conditions that do not restrict cost nothing.
select i.key, i.rev, i.definition, i.process_id, i.status, ''::bytea as state, ''::bytea as variables, i.business_id,
       i.parent, i.parent_element_instance, i.tags, i.tenant, i.started_at, i.ended_at,
       (select count(*) from procession.incident c where c.instance = i.key) as incidents
from procession.instance i
where ($1 = '' or i.process_id = $1)
  and ($2::bigint = 0 or i.definition = $2)
  and ($3::int < 0 or i.status = $3)
  and (cardinality($11::int[]) = 0 or i.status = any($11))
  and ($4 = '' or i.business_id = $4)
  and ($5::bigint = 0 or i.parent = $5)
  and (not $6::boolean or i.key in (select instance from procession.incident))
  and ($7 = '' or i.tags @> array[$7])
  and ($8 = '' or i.tenant = $8)
  and ($9::bigint = 0 or i.key < $9)
order by i.key desc
limit $10
