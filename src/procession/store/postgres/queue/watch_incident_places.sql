-- Open incidents by definition and element.
select definition, element, count(*)
from (
    select definition, element
    from procession.incident
    where (($1::json -> 0 ->> 'definition')::bigint = 0 or definition = ($1::json -> 0 ->> 'definition')::bigint)
    order by key desc
    limit ($1::json -> 0 ->> 'look')::bigint
) i
group by definition, element
