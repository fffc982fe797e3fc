"""The `deroute trace` commands: one file per command."""
