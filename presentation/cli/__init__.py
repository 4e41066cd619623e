"""The command line: a contract that scripts depend on."""
