-- How much there is, each counted up to a bound; the oldest among the ready jobs that were counted.
SELECT
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 0 AND (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted),
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 1 AND (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted),
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM procession_job
        WHERE state = 2 AND (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted),
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM procession_incident
        WHERE (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted),
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM procession_user_task
        WHERE (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted),
    (SELECT MIN(run_at) FROM (
        SELECT run_at FROM procession_job
        WHERE state = 0 AND (:any_tenant OR tenant IN (:tenants))
        LIMIT :most
    ) AS counted)
