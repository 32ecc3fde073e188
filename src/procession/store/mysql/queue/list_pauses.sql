-- What is paused.
SELECT kind, name, since, reason FROM procession_pause WHERE :a = 0 ORDER BY kind, name
