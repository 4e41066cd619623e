"""The ground every test stands on: what it may leave behind (nothing), touch (its own folders) and wait for."""
