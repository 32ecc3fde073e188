-- A new version of a form.
insert into procession.form (key, tenant, form_id, version, version_tag, resource, checksum, deployment)
values ($1, $2, $3, $4, $5, $6, $7, $8)
