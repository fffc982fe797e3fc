"""`python -m deroute`."""

from deroute.cli import main

main()
