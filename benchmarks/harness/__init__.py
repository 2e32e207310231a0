"""What measurements have in common."""
