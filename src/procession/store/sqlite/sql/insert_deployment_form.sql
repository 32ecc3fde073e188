INSERT INTO procession_deployment_form (deployment, form) VALUES (:deployment, :form)
ON CONFLICT (deployment, form) DO NOTHING
