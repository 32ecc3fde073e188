-- Recurring jobs that are no more.
DELETE FROM procession_recurring WHERE /* any */ (tenant = ?tenant AND name = ?name) /* any */
