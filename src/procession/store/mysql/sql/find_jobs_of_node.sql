SELECT `key` FROM procession_job FORCE INDEX (ready) WHERE state = 1 AND owner = :node ORDER BY `key`
