INSERT INTO procession_deployment_decision (deployment, decision) VALUES /* rows */ (?, ?) /* rows */
