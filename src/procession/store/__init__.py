"""Where state lives: one port, four stores. A store keeps rows and applies them; it knows no rule of a process."""
