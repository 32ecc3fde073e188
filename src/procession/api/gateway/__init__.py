"""The Zeebe gateway over gRPC: the verbs of ``api/verbs``, as clients and workers of Camunda 8 have always called them.

A remote procedure is a row (``rpcs``): how its request becomes that of the REST endpoint, and how the answer becomes a
message. Roles, backpressure, audit log and metrics are those of the endpoint. It decides nothing.
"""
