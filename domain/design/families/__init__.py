"""The circuit families the built-in designer knows, one module each."""
