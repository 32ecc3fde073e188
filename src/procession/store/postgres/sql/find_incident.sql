-- The instance of one row.
select instance from procession.incident where key = $1
