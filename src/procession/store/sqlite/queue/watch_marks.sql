-- Numbers that differ when something changed.
SELECT
    coalesce((SELECT max(position) FROM procession_history), 0) + json_extract(?1, '$[0]'),
    coalesce((SELECT max(key) FROM procession_instance), 0),
    coalesce((SELECT max(key) FROM procession_job), 0),
    coalesce((SELECT max(key) FROM procession_incident), 0),
    coalesce((SELECT max(key) FROM procession_user_task), 0),
    coalesce((SELECT sum(emitted + state + 1) FROM (
        SELECT emitted, state FROM procession_batch ORDER BY key DESC LIMIT 100
    )), 0),
    coalesce((SELECT max(key) FROM procession_deployment), 0) + (SELECT count(*) FROM procession_definition),
    coalesce((SELECT sum(version) + count(*) FROM procession_recurring), 0),
    coalesce((SELECT max(node) + count(*) FROM procession_node), 0)
