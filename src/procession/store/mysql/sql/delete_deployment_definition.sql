DELETE FROM procession_deployment_definition WHERE definition = :key
