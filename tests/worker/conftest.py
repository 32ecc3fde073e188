"""The worker's stories are played on the engine's stage."""

from tests.engine.conftest import stage

__all__ = ["stage"]
