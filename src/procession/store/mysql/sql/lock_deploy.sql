SELECT name FROM procession_sequence WHERE name = 'deploy' FOR UPDATE
