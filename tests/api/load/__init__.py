"""The server as a process of its own, loaded by this one: see ``make overload``."""
