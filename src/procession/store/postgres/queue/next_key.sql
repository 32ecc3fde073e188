-- The counter of the next key: none above it was given to anybody.
select next from procession.key_counter where ($1::json ->> 0)::bigint = 0
