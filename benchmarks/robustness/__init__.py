"""What survives kills, full disks and damaged files."""
