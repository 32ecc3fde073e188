-- What was counted of these definitions.
SELECT definition, place, measure, times
FROM procession_tally
WHERE definition IN (:a)
