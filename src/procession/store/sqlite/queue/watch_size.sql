-- The size of the file, in bytes: what was freed within it is part of it.
SELECT page_count * page_size + json_extract(?1, '$[0]') FROM pragma_page_count(), pragma_page_size()
