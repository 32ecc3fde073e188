-- Hints for other processes; on a connection that writes nothing, so that the lock of NOTIFY holds up no commit.
select pg_notify($1, queue) from unnest($2::text[]) as u (queue)
