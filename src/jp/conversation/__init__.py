"""What a conversation is: events, stream, turns, ids and the thread built for a provider."""
