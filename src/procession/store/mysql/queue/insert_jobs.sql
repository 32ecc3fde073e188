-- Jobs with their options. One that is there already stays as it is.
INSERT INTO procession_job (
    `key`, kind, state, negative_priority, run_at, due_at, attempt, retries, lease, owner, created_at, queue, type,
    tenant, args, traits, options, batch, deadline_at, waits_for
) VALUES /* rows */ (
    ?key, ?kind, ?state, 0 - ?priority, ?run_at, IF(?state = 2, ?run_at, NULL), ?owner IS NOT NULL, ?retries,
    ?owner IS NOT NULL, COALESCE(?owner, 0), ?created_at, ?queue, ?type, COALESCE(?tenant, ''), ?args, ?traits,
    ?options, ?batch, ?deadline_at, ?waits_for
) /* rows */
ON DUPLICATE KEY UPDATE `key` = VALUES(`key`)
