-- What is paused.
select kind, name, since, reason from procession.pause where ($1::json ->> 0)::bigint = 0 order by kind, name
