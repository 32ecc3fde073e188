-- Counts that are older than they are kept.
DELETE FROM procession_meter WHERE at < :b AND measure IN (:a) ORDER BY at, id LIMIT :c
