"""What records memory while a run goes on; what the recordings mean is said in `studio.memory`."""
