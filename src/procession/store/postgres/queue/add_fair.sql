-- Keys of queues that have had no place in line yet.
insert into procession.fair_place (queue, key, place)
select u.queue, u.key, 0
from json_to_recordset($1::json) as u (queue text, key text)
order by u.queue collate "C", u.key collate "C"
on conflict (queue, key) do nothing
