-- Steps of all instances after a cursor, up to the horizon below which no transaction can still commit.
select txid::text::bigint, position, instance, definition, at, events
from procession.history
where (txid, position) > ($1::bigint::text::xid8, $2::bigint)
  and txid < pg_snapshot_xmin(pg_current_snapshot()) and $4::bigint > 0
order by txid, position
limit $3::bigint
