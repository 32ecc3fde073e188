-- What the history says of each element, counted once: how often it began, was left, was interrupted, and how long it
-- took. A server counts on from where the last one stood; the insides are its own (store/rows/watching.py).

CREATE TABLE procession_tally_cursor (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    txid INTEGER NOT NULL,
    position INTEGER NOT NULL,
    moved_at INTEGER NOT NULL
) STRICT;

INSERT INTO procession_tally_cursor (only_row, txid, position, moved_at) VALUES (1, 0, 0, 0);

CREATE TABLE procession_tally (
    definition INTEGER NOT NULL,
    place INTEGER NOT NULL,
    measure INTEGER NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (definition, place, measure)
) STRICT, WITHOUT ROWID;
