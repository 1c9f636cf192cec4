"""Where conversations live: files, locks, journal, sessions, workspace."""
