-- The instance of one row.
select instance from procession.job where key = $1
