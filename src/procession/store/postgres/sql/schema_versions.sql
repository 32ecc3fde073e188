-- The migrations that were applied.
select version from procession.schema_version order by version
