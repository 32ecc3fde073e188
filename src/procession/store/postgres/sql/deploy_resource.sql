-- A file.
insert into procession.resource (key, deployment, name, kind, checksum, content) values ($1, $2, $3, $4, $5, $6)
