-- Say that a process lives; no row: others have declared it dead.
update procession.node set beat_at = coalesce($2::timestamptz, now()) where node = $1 returning node
