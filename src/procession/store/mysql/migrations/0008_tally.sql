-- What the history says of each element, counted once: how often it began, was left, was interrupted, and how long it
-- took. A server counts on from where the last one stood; the insides are its own (store/rows/watching.py).

CREATE TABLE IF NOT EXISTS procession_tally_cursor (
    only_row TINYINT PRIMARY KEY,
    txid BIGINT NOT NULL,
    position BIGINT NOT NULL,
    moved_at BIGINT NOT NULL
) ENGINE = InnoDB;

INSERT INTO procession_tally_cursor (only_row, txid, position, moved_at) VALUES (1, 0, 0, 0);

CREATE TABLE IF NOT EXISTS procession_tally (
    definition BIGINT NOT NULL,
    place INT NOT NULL,
    measure SMALLINT NOT NULL,
    times BIGINT NOT NULL,
    PRIMARY KEY (definition, place, measure)
) ENGINE = InnoDB;
