-- A block of keys that nobody else gets; the answer's number is its first.
UPDATE procession_sequence SET `next` = LAST_INSERT_ID(`next`) + :count WHERE name = 'key'
