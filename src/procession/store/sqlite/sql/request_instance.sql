INSERT INTO procession_instance (
    key, rev, definition, status, parent, parent_element_instance, started_at, ended_at,
    process_id, business_id, tenant, tags, variables, state
) VALUES (
    :instance, 0, :definition, 0, 0, 0, :now, 0,
    :process_id, :business_id, :tenant, :tags, :variables, zeroblob(0)
)
