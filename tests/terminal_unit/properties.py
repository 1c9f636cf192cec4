"""How property tests are run here."""

from hypothesis import settings

# No deadline for one example: a loaded machine is not a failure.
patient = settings(deadline=None, max_examples=60)
