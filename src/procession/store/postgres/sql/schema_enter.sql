-- Remember that a migration was applied.
insert into procession.schema_version (version, name) values ($1, $2)
