"""Commands that come with JP as plugins: programs of their own that know nothing of it but the plugin protocol."""
