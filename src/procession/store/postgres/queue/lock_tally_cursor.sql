-- How far the history was counted, until the end of the transaction.
select txid, position, moved_at from procession.tally_cursor where ($1::json ->> 0)::bigint = 0 for no key update
