"""The sections of the schema: in each module the typed form of a section and, beside it, its keys."""
