"""What runs inside the user's interpreter. Nothing of ours imports it, and it imports nothing of ours."""
