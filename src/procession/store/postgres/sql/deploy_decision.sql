-- A new version of a decision.
insert into procession.decision (key, tenant, decision_id, version, name, version_tag, requirements_id, resource, imports,
                                 checksum, deployment)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
