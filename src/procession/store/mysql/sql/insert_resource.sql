INSERT INTO procession_resource (`key`, deployment, name, kind, checksum, tenant, content)
VALUES (:key, :deployment, :name, :kind, :checksum, :tenant, :content)
