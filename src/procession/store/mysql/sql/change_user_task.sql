-- A value that does not change is NULL.
UPDATE procession_user_task
SET
    name = COALESCE(:name, name),
    assignee = COALESCE(:assignee, assignee),
    candidate_users = COALESCE(:candidate_users, candidate_users),
    candidate_groups = COALESCE(:candidate_groups, candidate_groups),
    due_at = COALESCE(:due_at, due_at),
    follow_up_at = COALESCE(:follow_up_at, follow_up_at),
    priority = COALESCE(:priority, priority),
    form_key = COALESCE(:form_key, form_key)
WHERE `key` = :key
