-- A block of keys that nobody else gets.
update procession.key_counter set next = next + $1 returning next - $1
