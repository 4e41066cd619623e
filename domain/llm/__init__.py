"""What we know of language models: requests, answers, messages, tools. Pure."""
