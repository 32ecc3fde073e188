-- For a connection that is not ours: the follow-up that starts the requested instance.
INSERT INTO procession_job (`key`, kind, state, run_at, retries, instance, definition, created_at, queue, type, tenant, args)
VALUES (
    :job, :kind, 0, COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), 3, :instance, :definition, COALESCE(:now, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000), :queue, '', :tenant, :command
)
