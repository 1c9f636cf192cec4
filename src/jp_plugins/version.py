"""The version of the plugins."""

VERSION = "0.1.0"
