-- The history was counted so far.
insert into procession.tally_cursor (txid, position, moved_at)
values (($1::json -> 0 ->> 'txid')::bigint, ($1::json -> 0 ->> 'position')::bigint, ($1::json -> 0 ->> 'moved_at')::bigint)
on conflict (only_row) do update
set txid = excluded.txid, position = excluded.position, moved_at = excluded.moved_at
