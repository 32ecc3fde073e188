-- The database's clock.
select now()
