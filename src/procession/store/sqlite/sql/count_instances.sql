SELECT status, count(*) FROM instance GROUP BY status
