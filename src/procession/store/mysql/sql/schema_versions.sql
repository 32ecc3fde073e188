-- The migrations that were applied wholly.
SELECT version FROM procession_migration WHERE applied_at IS NOT NULL ORDER BY version
