"""The rules of a process, pure: ``decide(definition, state, command, now, keys)`` gives the events that follow."""
