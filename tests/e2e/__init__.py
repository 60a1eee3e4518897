"""The real application with a real engine process."""
