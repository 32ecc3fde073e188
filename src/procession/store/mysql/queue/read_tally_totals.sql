-- What was counted of these processes as a whole.
SELECT definition, place, measure, times
FROM procession_tally
WHERE definition IN (:a) AND place = 0 AND measure < 1000
