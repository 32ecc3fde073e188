-- What a job comes after.
select parent from procession.dependency where child = ($1::json ->> 0)::bigint order by parent
