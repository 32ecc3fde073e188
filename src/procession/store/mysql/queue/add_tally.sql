-- Add to what was counted.
INSERT INTO procession_tally (definition, place, measure, times)
VALUES /* rows */ (?definition, ?place, ?measure, ?times) /* rows */
ON DUPLICATE KEY UPDATE times = times + VALUES(times)
