-- Whether there is a schema of ours.
select to_regclass('procession.schema_version') is not null
