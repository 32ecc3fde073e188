-- What an edge keeps beside the engine's rows: tokens, an audit log, small documents. The insides are its own.

CREATE TABLE procession_kept (
    kind TEXT NOT NULL,
    key INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX procession_kept_name ON procession_kept (kind, name, key);
