"""The database is large: see ``make large``."""
