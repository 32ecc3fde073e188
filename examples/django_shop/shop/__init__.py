"""A small shop: orders are placed in a view, packed by people, sent by a job."""
