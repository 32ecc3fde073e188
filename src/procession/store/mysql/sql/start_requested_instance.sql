-- What the step leaves empty stays as the request wrote it.
UPDATE procession_instance
SET
    business_id = IF(:business_id = '', business_id, :business_id),
    parent = IF(:parent = 0, parent, :parent),
    parent_element_instance = IF(:parent_element_instance = 0, parent_element_instance, :parent_element_instance),
    tags = IF(:tags = '[]', tags, :tags),
    tenant = IF(:tenant = '', tenant, :tenant)
WHERE `key` = :key
