SELECT `key` FROM procession_job FORCE INDEX (ready) WHERE state = 1 AND traits IS NULL AND owner = :node ORDER BY `key`
