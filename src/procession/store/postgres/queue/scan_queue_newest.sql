-- The keys of the jobs of the queue that are meant, the newest first, among the next rows that are looked at. A negative key is
-- the last row that was looked at, where there may be more.
with w as materialized (
    select w.*, array(select value::int from json_array_elements_text(w.kinds)) as kind_list
    from json_to_record($1::json -> 0) as w (
        after bigint, state int, queue text, type text, tenant text, batch bigint, owner int, tag text, text text,
        kinds json, keys json, "limit" int, rows int
    )
)
(select key
 from (select * from procession.job where key < coalesce(nullif((select after from w), 0), 9223372036854775807) order by key desc limit (select rows from w)) looked
 where ((select state from w) < 0 or state = (select state from w))
   and ((select queue from w) = '' or queue = (select queue from w))
   and ((select type from w) = '' or type = (select type from w))
   and ((select tenant from w) = '' or tenant = (select tenant from w))
   and ((select batch from w) = 0 or batch = (select batch from w))
   and ((select owner from w) = 0 or owner = (select owner from w))
   and ((select kind_list from w) = '{}' or kind = any((select kind_list from w)::int[]))
   and ((select tag from w) = ''
        or exists (select from json_array_elements_text(options -> 'tags') as t (value) where t.value = (select tag from w)))
   and ((select text from w) = ''
        or lower(options ->> 'title' collate "C") like (select text from w) escape '!'
        or lower(type collate "C") like (select text from w) escape '!'
        or lower(error collate "C") like (select text from w) escape '!'
        or lower(args::text collate "C") like (select text from w) escape '!')
 order by key desc
 limit (select "limit" from w))
union all
(select -key from procession.job where key < coalesce(nullif((select after from w), 0), 9223372036854775807) order by key desc offset (select rows from w) - 1 limit 1)
