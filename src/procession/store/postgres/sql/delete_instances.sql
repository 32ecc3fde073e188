-- Ended instances whose caller is gone or never was, with all that they called; none of a tree in which one still runs.
-- What has ended never changes again, so the snapshot is good for the whole statement.
with recursive tree as (
    select r.key as root, r.key, r.status not in (1, 2) as runs
    from procession.instance r
    where r.key = any($1::bigint[])
      and not exists (select from procession.instance caller where caller.key = r.parent)
    union all
    select tree.root, c.key, c.status not in (1, 2)
    from tree
    join procession.instance c on c.parent = tree.key
), doomed as materialized (
    select root, key from tree where root not in (select root from tree where runs)
), h as (
    delete from procession.history where instance in (select key from doomed)
), i as (
    delete from procession.instance where key in (select key from doomed)
)
select distinct root from doomed
