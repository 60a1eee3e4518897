"""The parts of the Data page: class bars, thumbnails, findings and the preview of what the network sees."""
