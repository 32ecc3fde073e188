"""What pages look at, written once for all stores as scripts; see ``store/watch_port.py``."""
