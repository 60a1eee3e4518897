"""The six places of the window, one module each; the window imports them by name when they are first needed."""
