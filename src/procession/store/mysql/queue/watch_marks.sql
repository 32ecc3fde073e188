-- Numbers that differ when something changed.
SELECT
    COALESCE((SELECT MAX(position) FROM procession_history), 0) + :a,
    COALESCE((SELECT MAX(`key`) FROM procession_instance), 0),
    COALESCE((SELECT MAX(`key`) FROM procession_job), 0),
    COALESCE((SELECT MAX(`key`) FROM procession_incident), 0),
    COALESCE((SELECT MAX(`key`) FROM procession_user_task), 0),
    COALESCE((SELECT CAST(SUM(emitted + state + 1) AS SIGNED) FROM (
        SELECT emitted, state FROM procession_batch ORDER BY `key` DESC LIMIT 100
    ) AS batch), 0),
    COALESCE((SELECT MAX(`key`) FROM procession_deployment), 0) + (SELECT COUNT(*) FROM procession_definition),
    COALESCE((SELECT CAST(SUM(version) + COUNT(*) AS SIGNED) FROM procession_recurring), 0),
    COALESCE((SELECT MAX(node) + COUNT(*) FROM procession_node), 0)
