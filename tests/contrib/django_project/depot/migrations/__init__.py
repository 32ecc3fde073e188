"""The table of parcels."""
