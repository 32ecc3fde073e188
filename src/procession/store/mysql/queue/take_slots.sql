-- Slots of runs that start.
INSERT INTO procession_slot (limit_key, job, node) VALUES /* rows */ (?limit_key, ?job, ?node) /* rows */
