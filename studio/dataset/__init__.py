"""A folder of pictures becomes a labelled, checked, split and cached index (Pillow and numpy; no torch, no Qt)."""
