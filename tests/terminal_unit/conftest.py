"""Property tests here have no deadline for one example: a loaded machine is not a failure."""

from hypothesis import settings

settings.register_profile("terminal", deadline=None, max_examples=60)
settings.load_profile("terminal")
