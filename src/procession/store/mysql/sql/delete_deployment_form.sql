DELETE FROM procession_deployment_form WHERE form = :key
