-- Become or stay leader. A term is drawn for every call, so it grows, with gaps; it changes with the leader only.
-- Who was declared dead has no row and does not lead.
insert into procession.lease as l (name, node, term, until)
select 'leader', n.node, nextval('procession.leader_term'),
       coalesce($3::timestamptz, now()) + $2::bigint * interval '1 millisecond'
from procession.node n
where n.node = $1
on conflict (name) do update
set node = excluded.node,
    term = case when l.node = excluded.node then l.term else excluded.term end,
    until = excluded.until
where l.node = excluded.node or l.until <= coalesce($3, now())
returning term
