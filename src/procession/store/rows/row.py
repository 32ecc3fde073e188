"""What every row is: a plain value, without the fields that are as by default."""

from __future__ import annotations

import msgspec


class Row(msgspec.Struct, omit_defaults=True, gc=False):
    """Base of all rows. They are part of no cycle."""
