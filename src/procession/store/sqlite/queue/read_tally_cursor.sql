-- How far the history was counted.
SELECT txid, position, moved_at FROM procession_tally_cursor WHERE json_extract(?1, '$[0]') = 0
