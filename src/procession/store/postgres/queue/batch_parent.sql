-- The batch that a batch of jobs is a member of.
select parent from procession.job_batch where key = ($1::json ->> 0)::bigint
