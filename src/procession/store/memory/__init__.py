"""The store without a database: plain dictionaries in one process. For tests, for trying things, and as the oracle.

It does what the port says in the most direct way; the SQL stores are compared with it. Nothing survives the process.
"""

from procession.store.memory._store import MemoryStore

__all__ = ["MemoryStore"]
