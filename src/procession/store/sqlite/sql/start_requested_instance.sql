-- What the step leaves empty stays as the request wrote it.
UPDATE procession_instance
SET
    business_id = CASE :business_id WHEN '' THEN business_id ELSE :business_id END,
    parent = CASE :parent WHEN 0 THEN parent ELSE :parent END,
    parent_element_instance = CASE :parent_element_instance
        WHEN 0 THEN parent_element_instance ELSE :parent_element_instance
    END,
    tags = CASE :tags WHEN '[]' THEN tags ELSE :tags END,
    tenant = CASE :tenant WHEN '' THEN tenant ELSE :tenant END
WHERE key = :key
