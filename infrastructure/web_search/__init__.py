"""Search engines of the web: SearXNG at an address of the user's, and services that want a key."""
