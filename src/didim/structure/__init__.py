"""What a model lacks: suspects, their columns, and the tests that raise them."""
