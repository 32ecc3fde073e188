-- The bytes of a deployed file.
select content from procession.resource where key = $1
