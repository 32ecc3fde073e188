"""Shipped helpers for tests: what every store must keep, a clock turned by hand. Nothing but tests imports it."""
