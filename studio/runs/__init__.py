"""Runs from outside: start, follow, command, list and compare them; knows the run folder, not the engine."""
