"""The history of the shop's tables."""
