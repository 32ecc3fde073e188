-- The database's clock in milliseconds, as it is now and not when the transaction began.
select (extract(epoch from clock_timestamp()) * 1000)::bigint
