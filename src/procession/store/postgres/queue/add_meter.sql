-- Add to what was counted by time.
insert into procession.meter as m (at, id, measure, times, last_at, tenant, name, worker, detail)
select u.at, u.id, u.measure, u.times, u.last_at, u.tenant, u.name, u.worker, u.detail
from json_to_recordset($1::json)
     as u (at bigint, id bigint, measure smallint, times bigint, last_at bigint, tenant text, name text, worker text,
           detail text)
order by u.at, u.id
on conflict (at, id) do update set times = m.times + excluded.times, last_at = greatest(m.last_at, excluded.last_at)
