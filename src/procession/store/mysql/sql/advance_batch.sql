UPDATE procession_batch
SET
    emitted = emitted + :count,
    `cursor` = :to,
    jobs = :jobs,
    state = IF(:ended, 1, state),
    ended_at = IF(:ended, @now, ended_at)
WHERE `key` = :key
