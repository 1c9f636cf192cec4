"""The embedded model: its catalogue, its installation, and the child process that runs it."""
