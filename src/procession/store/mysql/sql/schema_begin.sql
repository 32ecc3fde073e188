INSERT INTO procession_migration (version, name, statements) VALUES (:version, :name, 0)
