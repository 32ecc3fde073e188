-- For a connection that is not ours: an instance that exists, not yet started, when the caller's transaction commits.
INSERT INTO procession_instance (
    `key`, rev, definition, status, parent, parent_element_instance, started_at, ended_at,
    process_id, business_id, tenant, tags, variables, state
) VALUES (
    :instance, 0, :definition, 0, 0, 0, COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), 0,
    :process_id, :business_id, :tenant, :tags, :variables, ''
)
