-- The history names the element that a message was correlated to; a test compares the places with the fields of the events.

CREATE OR REPLACE VIEW procession_history_event AS
SELECT
    history.position,
    event.number,
    history.instance,
    history.definition,
    history.at,
    event.event,
    JSON_UNQUOTE(JSON_EXTRACT(
        definition.elements,
        CONCAT('$[', CASE
            WHEN event.event IN ('joined', 'removed', 'triggered') THEN event.first
            WHEN event.event IN (
                'activated', 'passed', 'parked', 'deferred', 'compensable', 'warning', 'decision'
            ) THEN event.second
            WHEN event.event IN ('timer', 'subscribed') THEN event.third
            WHEN event.event = 'correlated' THEN event.fifth
        END, ']')
    )) AS element,
    JSON_EXTRACT(history.events, CONCAT('$[', event.number - 1, ']')) AS data
FROM procession_history AS history
CROSS JOIN JSON_TABLE(
    history.events, '$[*]' COLUMNS (
        number FOR ORDINALITY,
        event VARCHAR(50) PATH '$[0]',
        first INT PATH '$[1]' NULL ON EMPTY NULL ON ERROR,
        second INT PATH '$[2]' NULL ON EMPTY NULL ON ERROR,
        third INT PATH '$[3]' NULL ON EMPTY NULL ON ERROR,
        fifth INT PATH '$[5]' NULL ON EMPTY NULL ON ERROR
    )
) AS event
LEFT JOIN procession_definition AS definition ON definition.`key` = history.definition;
