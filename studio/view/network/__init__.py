"""The parts of the Network page: the list of blocks, its palette, inspector, forecast and drawing."""
