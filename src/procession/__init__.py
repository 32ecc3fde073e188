"""Durable BPMN 2.0 processes and jobs for Python, on the database you already run."""
