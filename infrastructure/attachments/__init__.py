"""Pictures and documents that users attach to messages."""
