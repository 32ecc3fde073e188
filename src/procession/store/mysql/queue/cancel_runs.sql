-- Somebody wants these runs to end.
UPDATE procession_job SET cancel_reason = :reason, traits = :traits WHERE `key` = :key
