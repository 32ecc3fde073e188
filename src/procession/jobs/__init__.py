"""The rules of the queue, pure: kinds and states of jobs, retry policies, outcomes. It never touches a database."""
