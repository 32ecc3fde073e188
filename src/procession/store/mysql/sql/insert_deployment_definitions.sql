INSERT INTO procession_deployment_definition (deployment, definition) VALUES /* rows */ (?, ?) /* rows */
