"""Turns problems, runs, pasted text and the machine's state into ranked hints with measured evidence."""
