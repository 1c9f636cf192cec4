"""`jp serve web`: conversations in a browser, on this machine alone."""
