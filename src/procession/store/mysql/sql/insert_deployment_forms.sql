INSERT INTO procession_deployment_form (deployment, form) VALUES /* rows */ (?, ?) /* rows */
