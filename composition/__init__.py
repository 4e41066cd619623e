"""The composition root: names the concrete adapters, a module for each group of use cases."""
