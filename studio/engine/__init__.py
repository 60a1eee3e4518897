"""Everything that touches tensors: the only importer of torch."""
