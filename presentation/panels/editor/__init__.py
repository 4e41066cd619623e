"""The editor: tabs, SPICE text with colours and live problems, and what keeps it true to the disk."""
