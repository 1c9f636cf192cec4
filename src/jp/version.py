"""The version of JP; the distribution's metadata is made from this."""

VERSION = "0.1.0"
