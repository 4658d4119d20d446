"""One short file per method: its settings, and the rule, search and stopping that it combines."""
