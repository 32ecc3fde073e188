-- The history names the element that a message was correlated to; a test compares the places with the fields of the events.

DROP VIEW procession_history_event;

CREATE VIEW procession_history_event AS
SELECT
    history.position,
    event.key AS number,
    history.instance,
    history.definition,
    history.at,
    json_extract(event.value, '$[0]') AS event,
    json_extract(
        definition.elements,
        '$[' || json_extract(
            event.value,
            CASE json_extract(event.value, '$[0]')
                WHEN 'joined' THEN '$[1]'
                WHEN 'removed' THEN '$[1]'
                WHEN 'triggered' THEN '$[1]'
                WHEN 'activated' THEN '$[2]'
                WHEN 'passed' THEN '$[2]'
                WHEN 'parked' THEN '$[2]'
                WHEN 'deferred' THEN '$[2]'
                WHEN 'compensable' THEN '$[2]'
                WHEN 'warning' THEN '$[2]'
                WHEN 'decision' THEN '$[2]'
                WHEN 'timer' THEN '$[3]'
                WHEN 'subscribed' THEN '$[3]'
                WHEN 'correlated' THEN '$[5]'
            END
        ) || ']'
    ) AS element,
    event.value AS data
FROM procession_history AS history
CROSS JOIN json_each(history.events) AS event
LEFT JOIN procession_definition AS definition ON definition.key = history.definition;
