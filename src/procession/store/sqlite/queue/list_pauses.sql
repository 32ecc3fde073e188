-- What is paused.
SELECT kind, name, since, reason FROM procession_pause WHERE json_extract(?1, '$[0]') = 0 ORDER BY kind, name
