INSERT INTO resource (key, deployment, name, kind, checksum, tenant, content)
VALUES (:key, :deployment, :name, :kind, :checksum, :tenant, :content)
