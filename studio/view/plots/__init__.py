"""Live plots that stay light: own decimation, ten drawings a second, nothing while hidden."""
