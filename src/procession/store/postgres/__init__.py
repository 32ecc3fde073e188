"""PostgreSQL behind the port of the stores: set-based statements over asyncpg. It knows no rule of a process."""

from procession.store.postgres._migrating import schema_script
from procession.store.postgres.store import PostgresStore

__all__ = ["PostgresStore", "schema_script"]
