-- The instance of one row.
select instance from procession.subscription where key = $1
