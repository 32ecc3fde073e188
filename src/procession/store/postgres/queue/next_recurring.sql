-- The next instant at which a recurring job is due.
select min(next_at) from procession.recurring where not paused and next_at > 0 and next_at > ($1::json ->> 0)::bigint
