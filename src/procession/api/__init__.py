"""The server: Camunda 8's REST API under ``/v2`` and our own under ``/api``, over one open application.

It translates, authenticates, limits and counts; what a command does is decided by ``app`` and below. The verbs know
no HTTP, so that another protocol can serve them. It imports Starlette and uvicorn only where it serves.
"""
