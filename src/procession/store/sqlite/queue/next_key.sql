-- The counter of the next key: none above it was given to anybody.
SELECT next FROM procession_sequence WHERE name = 'key' AND json_extract(?1, '$[0]') = 0
