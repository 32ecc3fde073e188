-- Others come after these jobs: their ends go the long way (jobs.options.Trait.PARENT).
update procession.job set traits = coalesce(traits, 0) | 8 where key = any(array(select value::bigint from json_array_elements_text($1::json)))
