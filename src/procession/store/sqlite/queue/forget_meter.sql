-- Counts that are older than they are kept.
DELETE FROM procession_meter
WHERE (at, id) IN (
    SELECT at, id FROM procession_meter
    WHERE at < ?2 AND measure IN (SELECT value FROM json_each(?1))
    ORDER BY at, id
    LIMIT ?3
)
