"""What the stores have in common: values they refuse, follow-ups they write, how SQL is loaded and migrated.

It knows no database: it is imported by the stores and imports none of them.
"""
