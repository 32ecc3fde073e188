"""The store in one file: SQLite through the standard library, in WAL mode, behind one writer thread.

The writer commits whatever has gathered while the last commit ran, so many callers share one transaction. Listings
read on a thread and connection of their own. Several processes may work on one file; they find each other's jobs by
polling. It needs SQLite 3.38 or newer (RETURNING, STRICT tables, JSON functions that are always there) and a local
disk: WAL does not work over a network file system.
"""

from procession.store.sqlite._schema import schema_script
from procession.store.sqlite._store import SqliteStore

__all__ = ["SqliteStore", "schema_script"]
