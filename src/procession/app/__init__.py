"""The object that users hold, its synchronous face, and what they see. Nothing here decides about a process."""

from procession.app.procession import Procession
from procession.app.sync import SyncProcession

__all__ = ["Procession", "SyncProcession"]
