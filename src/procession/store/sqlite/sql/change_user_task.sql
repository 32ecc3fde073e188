-- A value that does not change is NULL.
UPDATE procession_user_task
SET
    name = coalesce(:name, name),
    assignee = coalesce(:assignee, assignee),
    candidate_users = coalesce(:candidate_users, candidate_users),
    candidate_groups = coalesce(:candidate_groups, candidate_groups),
    due_at = coalesce(:due_at, due_at),
    follow_up_at = coalesce(:follow_up_at, follow_up_at),
    priority = coalesce(:priority, priority),
    form_key = coalesce(:form_key, form_key)
WHERE key = :key
