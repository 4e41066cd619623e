"""Design and language-model providers, one module each."""
