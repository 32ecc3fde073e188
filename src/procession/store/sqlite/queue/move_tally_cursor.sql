-- The history was counted so far.
INSERT INTO procession_tally_cursor (only_row, txid, position, moved_at)
VALUES (1, json_extract(?1, '$[0].txid'), json_extract(?1, '$[0].position'), json_extract(?1, '$[0].moved_at'))
ON CONFLICT (only_row) DO UPDATE
SET txid = excluded.txid, position = excluded.position, moved_at = excluded.moved_at
