SELECT
    `key`, instance, element_instance, element, name, definition, process_id, assignee, candidate_users,
    candidate_groups, due_at, follow_up_at, priority, form_key, created_at, tenant, form
FROM procession_user_task
WHERE `key` > :after
    AND (:key = 0 OR `key` = :key)
    AND (:instance = 0 OR instance = :instance)
    AND (:process_id = '' OR process_id = :process_id)
    AND (:element = '' OR element = :element)
    AND (:assignee = '' OR assignee = :assignee)
    AND (NOT :unassigned OR assignee = '')
    AND (:candidate_user = '' OR JSON_CONTAINS(candidate_users, :candidate_user_json))
    AND (:candidate_group = '' OR JSON_CONTAINS(candidate_groups, :candidate_group_json))
    AND (:due_before = 0 OR (due_at > 0 AND due_at < :due_before))
    AND (:follow_up_before = 0 OR (follow_up_at > 0 AND follow_up_at < :follow_up_before))
    AND priority >= :priority
    AND (:tenant = '' OR tenant = :tenant)
ORDER BY `key`
LIMIT :limit
