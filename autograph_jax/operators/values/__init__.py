"""What values are under tracing: forms, choices, and how two of them are joined."""
