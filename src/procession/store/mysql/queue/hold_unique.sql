-- Take unique keys that nobody holds; the others stay as they are.
INSERT INTO procession_unique_key (tenant, `key`, job, `until`)
VALUES /* rows */ (?tenant, ?key, ?job, ?until) /* rows */
ON DUPLICATE KEY UPDATE tenant = VALUES(tenant)
