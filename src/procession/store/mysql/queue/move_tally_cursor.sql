-- The history was counted so far.
INSERT INTO procession_tally_cursor (only_row, txid, position, moved_at) VALUES (1, :txid, :position, :moved_at)
ON DUPLICATE KEY UPDATE txid = VALUES(txid), position = VALUES(position), moved_at = VALUES(moved_at)
