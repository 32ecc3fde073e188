INSERT INTO procession_deployment_definition (deployment, definition) VALUES (:deployment, :definition)
ON CONFLICT (deployment, definition) DO NOTHING
