-- The history names the element that a message was correlated to; a test compares the places with the fields of the events.

create or replace view procession.history_event as
select h.position,
       e.ordinal,
       h.instance,
       h.definition,
       h.at,
       e.event ->> 0 as event,
       d.elements[1 + (e.event ->> case
           when e.event ->> 0 in ('joined', 'removed', 'triggered') then 1
           when e.event ->> 0 in ('activated', 'passed', 'parked', 'deferred', 'compensable', 'warning',
                                  'decision') then 2
           when e.event ->> 0 in ('timer', 'subscribed') then 3
           when e.event ->> 0 = 'correlated' then 5
       end)::int] as element,
       e.event as fields
from procession.history h
cross join lateral json_array_elements(h.events) with ordinality as e (event, ordinal)
left join procession.definition d on d.key = h.definition;
