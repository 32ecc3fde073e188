-- Which of these are paused.
SELECT kind, name
FROM procession_pause
WHERE /* any */ (kind = ?kind AND name = ?name) /* any */
FOR UPDATE
