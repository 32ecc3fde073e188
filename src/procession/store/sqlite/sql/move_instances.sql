-- As update_instances, for steps that end an instance or give it another status or definition.
UPDATE procession_instance AS instance
SET
    rev = rev + 1,
    definition = step.column2,
    process_id = step.column3,
    status = step.column4,
    ended_at = step.column5,
    variables = coalesce(CAST(step.column6 AS TEXT), variables),
    state = step.column7
FROM (VALUES /* rows */ (?, ?, ?, ?, ?, ?, ?) /* rows */) AS step
WHERE instance.key = step.column1
