-- Slots that nobody can hold.
DELETE FROM procession_slot WHERE /* any */ (limit_key = ?limit_key AND job = ?job) /* any */
