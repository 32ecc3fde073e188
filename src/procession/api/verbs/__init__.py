"""What clients can ask for, one module per noun, each with the table of its endpoints. They know no protocol."""
