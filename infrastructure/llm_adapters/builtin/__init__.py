"""The built-in model: no network, plain commands and questions answered by calls of tools, and designs."""
