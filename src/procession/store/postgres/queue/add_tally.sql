-- Add to what was counted.
insert into procession.tally as t (definition, place, measure, times)
select u.definition, u.place, u.measure, u.times
from json_to_recordset($1::json) as u (definition bigint, place int, measure smallint, times bigint)
order by u.definition, u.place, u.measure
on conflict (definition, place, measure) do update set times = t.times + excluded.times
