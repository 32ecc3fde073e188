"""The queue's long way, once for all stores: what jobs with traits, batches, limits and operators ask of the tables.

``script``     how a script asks, and how a store runs it
``rows``       the rows that scripts read and write
``submitting`` insertion: unique keys, limits, flows, batches
``ending``     a job becomes final, and all that follows from it
``settling``   runs end, are reported on, are lost with their process
``claiming``   limited jobs start
``operating``  operators and duties
``recurring``  recurring jobs
``batching``   batches of jobs
``views``      what is only read
``sweeping``   the repair of what no transaction leaves behind

It knows no database: it is imported by the stores and imports none of them.
"""
