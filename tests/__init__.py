"""The tests, one folder for each room; `support` holds what they share, `house` holds the style."""
