"""Configuration: what may be set, where it comes from, and which source had the last word."""
