INSERT INTO procession_user_task (
    `key`, instance, element_instance, definition, due_at, follow_up_at, priority, created_at, element, name,
    process_id, assignee, candidate_users, candidate_groups, form_key, tenant, form
) VALUES /* rows */ (?, ?, ?, ?, ?, ?, ?, @now, ?, ?, ?, ?, ?, ?, ?, ?, ?) /* rows */
