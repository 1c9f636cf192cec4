"""Command plugins: programs in any language that extend `jp` with a command (RFD D60)."""
