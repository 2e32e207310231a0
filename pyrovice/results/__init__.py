"""What a fit knows: posterior, predictions, scores, containers and files."""
