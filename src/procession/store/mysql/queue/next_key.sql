-- The counter of the next key: none above it was given to anybody.
SELECT `next` FROM procession_sequence WHERE name = 'key' AND :a = 0
