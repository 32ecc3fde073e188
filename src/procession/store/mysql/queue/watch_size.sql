-- The size of the database, in bytes, as the server last estimated it.
SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) + :a
FROM information_schema.tables
WHERE table_schema = DATABASE()
