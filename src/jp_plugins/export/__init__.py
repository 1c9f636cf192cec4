"""`jp export`: conversations as documents."""
