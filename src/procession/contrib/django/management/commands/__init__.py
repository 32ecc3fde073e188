"""One module for each command, named as it is."""
