-- Add to what was counted.
INSERT INTO procession_tally (definition, place, measure, times)
SELECT value ->> 'definition', value ->> 'place', value ->> 'measure', value ->> 'times'
FROM json_each(?1)
WHERE true
ON CONFLICT (definition, place, measure) DO UPDATE SET times = times + excluded.times
