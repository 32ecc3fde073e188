-- The instance of one row.
select instance from procession.user_task where key = $1
