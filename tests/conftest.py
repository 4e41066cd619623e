"""Every test runs on the ground of tests/ground; see docs/testing.md."""

pytest_plugins = ["tests.ground.plugin"]
