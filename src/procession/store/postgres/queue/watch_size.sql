-- The size of the database, in bytes: everything that is in it, whosever it is.
select pg_database_size(current_database()) + ($1::json ->> 0)::bigint
