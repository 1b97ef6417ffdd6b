"""Damaged variants of real files: what copies, editors, crashes and attackers make of them."""
