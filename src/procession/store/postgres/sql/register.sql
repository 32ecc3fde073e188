-- Enter a process under a number that was never used.
insert into procession.node (node, name, started_at, beat_at, details)
values (nextval('procession.node_number'), $1, coalesce($3::timestamptz, now()), coalesce($3, now()), $2::json)
returning node
