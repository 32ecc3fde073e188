-- Rows of the archive whose time is over and that nobody comes after any more.
select a.key
from procession.job_archive a
where a.expires_at <= $2::bigint and not exists (select from procession.dependency d where d.parent = a.key)
order by a.expires_at, a.key
limit ($1::json ->> 0)::bigint
