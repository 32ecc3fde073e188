-- These are claimed again.
DELETE FROM procession_pause WHERE /* any */ (kind = ?kind AND name = ?name) /* any */
