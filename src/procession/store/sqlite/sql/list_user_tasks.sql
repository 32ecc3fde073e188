SELECT
    key, instance, element_instance, element, name, definition, process_id, assignee, candidate_users,
    candidate_groups, due_at, follow_up_at, priority, form_key, created_at, tenant, form
FROM procession_user_task
WHERE key > :after
    AND (:key = 0 OR key = :key)
    AND (:instance = 0 OR instance = :instance)
    AND (:process_id = '' OR process_id = :process_id)
    AND (:element = '' OR element = :element)
    AND (:assignee = '' OR assignee = :assignee)
    AND (NOT :unassigned OR assignee = '')
    AND (:candidate_user = '' OR EXISTS (SELECT 1 FROM json_each(candidate_users) WHERE value = :candidate_user))
    AND (:candidate_group = '' OR EXISTS (SELECT 1 FROM json_each(candidate_groups) WHERE value = :candidate_group))
    AND (:due_before = 0 OR (due_at > 0 AND due_at < :due_before))
    AND (:follow_up_before = 0 OR (follow_up_at > 0 AND follow_up_at < :follow_up_before))
    AND priority >= :priority
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY key
LIMIT :limit
