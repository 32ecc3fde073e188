UPDATE procession_sequence SET next = next + :count WHERE name = 'key' RETURNING next - :count
