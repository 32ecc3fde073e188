-- How far the history was counted, until the end of the transaction.
SELECT txid, position, moved_at FROM procession_tally_cursor WHERE :a = 0 FOR UPDATE
