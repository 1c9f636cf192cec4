"""Rendering: markdown as it streams, the chat, tables and records. Import from the concrete module."""
