"""Processes and databases are killed while instances run; then the books are compared."""
