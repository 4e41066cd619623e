"""The ground every test stands on: what it may leave behind (nothing), touch and wait for."""
