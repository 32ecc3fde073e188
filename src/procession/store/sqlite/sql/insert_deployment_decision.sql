INSERT INTO procession_deployment_decision (deployment, decision) VALUES (:deployment, :decision)
ON CONFLICT (deployment, decision) DO NOTHING
