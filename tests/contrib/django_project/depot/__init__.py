"""An app with a table, handlers of each kind, and a process."""
