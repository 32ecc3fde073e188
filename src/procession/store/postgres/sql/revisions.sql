-- At which revisions instances are.
select key, rev from procession.instance where key = any($1::bigint[])
