SELECT
    key, instance, element_instance, element, name, definition, process_id, assignee, candidate_users,
    candidate_groups, due_at, follow_up_at, priority, form_key, created_at, tenant
FROM procession_user_task
WHERE key > :after
    AND (:instance = 0 OR instance = :instance)
    AND (:assignee = '' OR assignee = :assignee)
    AND (:group = '' OR EXISTS (SELECT 1 FROM json_each(candidate_groups) WHERE value = :group))
ORDER BY key
LIMIT :limit
