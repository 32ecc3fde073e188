-- What a job comes after.
SELECT parent FROM procession_dependency WHERE child = json_extract(?1, '$[0]') ORDER BY parent
