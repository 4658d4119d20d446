"""Base parameters (4)-(6): by the closed-form rules of Gautier and Khalil, and numerically by QR."""
