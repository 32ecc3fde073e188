"""Every bound that a user can run into, by name and with its reason. It holds numbers and never logic.

A bound that is hit is a rejection or an incident that names the bound; nothing hangs and nothing is cut silently.
"""

from __future__ import annotations

from typing import Final

# One step of one instance -------------------------------------------------------------------------------------------
STEP_EVENTS_MAX: Final = 2_000  # then the step commits and goes on as a follow-up: about 10 ms of the loop's time
STEP_KEYS_MAX: Final = 3 * STEP_EVENTS_MAX  # an event takes at most one key, an activation may overshoot the bound
METHODS_PER_STEP_MAX: Final = 100  # methods run in a row within one commit before the step is cut

# Sizes --------------------------------------------------------------------------------------------------------------
VARIABLES_BYTES_MAX: Final = 4 * 1024 * 1024  # all variables of one command as JSON; Zeebe's message limit is 4 MiB
STATE_BYTES_MAX: Final = 64 * 1024 * 1024  # one instance's scope tree, far below PostgreSQL's 1 GB field
JOB_ARGS_BYTES_MAX: Final = 1024 * 1024
KEY_TEXT_BYTES_MAX: Final = 200  # unique keys, correlation keys, queue names: they are indexed
NAME_BYTES_MAX: Final = 255  # ids, names of messages and signals, business ids, as in Camunda 8
ERROR_TEXT_CHARS_MAX: Final = 10_000  # error message and traceback of one attempt
JSON_DEPTH_MAX: Final = 200  # nested lists and objects in variables
TAGS_MAX: Final = 32

# Models -------------------------------------------------------------------------------------------------------------
RESOURCE_BYTES_MAX: Final = 16 * 1024 * 1024
ELEMENTS_MAX: Final = 10_000  # elements and flows of one process
DOCUMENT_BYTES_MAX: Final = 4 * 1024 * 1024  # a document that is kept beside processes
XML_DEPTH_MAX: Final = 200
XML_ELEMENTS_MAX: Final = 200_000  # of one file without its diagrams; the largest public models have some 3,000
REACH_STEPS_MAX: Final = 5_000_000  # work to find what can still reach the inclusive joins: about three seconds
CALL_DEPTH_MAX: Final = 100  # call activities within call activities, then an incident (Zeebe: 1,000)

# Batches ------------------------------------------------------------------------------------------------------------
COMMIT_STEPS_MAX: Final = 1_000  # steps in one transaction
COMMIT_BYTES_MAX: Final = 8 * 1024 * 1024
CLAIM_MAX: Final = 500  # jobs leased by one claim: 200-500 is where drains are fastest
LEASED_AHEAD_MAX: Final = 5_000  # jobs of one queue that wait in a process which shares the database with no other
QUEUE_WEIGHT_MAX: Final = 1_000  # of a queue that shares a worker's slots
PROMOTE_MAX: Final = 1_000  # due jobs made ready by one statement
RESCUE_MAX: Final = 1_000
ENQUEUE_MAX: Final = 10_000
KEY_BLOCK: Final = 100_000
CALLER_KEYS: Final = 100_000  # kept for rows in transactions of callers; a start takes two
SEARCH_LIMIT_MAX: Final = 10_000  # records of one page over HTTP, as in Camunda 8
SEARCH_MATCHES_MAX: Final = 10_000  # matches that are counted, and put into another order than that of their keys
BATCH_JOBS_MAX: Final = 10_000  # jobs that one batch changes: their keys stand in its row, and are read at each turn
SEARCH_ROWS_MAX: Final = 100_000  # rows that one search looks at: about a second
SEARCH_VARIABLES_MAX: Final = 3  # variables that one search of instances compares
INSTANCES_LOOK_MAX: Final = 25_000  # instances that one search looks at: 40 ms of a processor, 9,000 buffers
INSTANCES_READ_MAX: Final = 8_000  # the same where their variables are read: as long
INSTANCES_DECODED_MAX: Final = 2_000  # the same where their states are decoded: as long
SHOWN_COUNT_MAX: Final = 10_000  # what a page counts of instances is exact up to here
SCOPE_SCAN_MAX: Final = 10_000  # active instances looked through for an element instance that nobody has named before
REMOTE_WORKERS_MAX: Final = 20_000  # workers of other processes that wait for jobs in one process
PAGE_MAX: Final = 1_000  # rows of one page of a listing

# Time, in milliseconds ----------------------------------------------------------------------------------------------
MESSAGE_TTL_MS_MAX: Final = 366 * 24 * 3_600_000
AWAIT_MS_MAX: Final = 600_000  # how long one request may wait: for jobs, for the end of an instance
REMOTE_LEASE_MS_MAX: Final = 366 * 24 * 3_600_000  # how long a worker elsewhere may keep a job
TIMER_MS_MAX: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z, the last instant every store can hold
HEARTBEAT_MS: Final = 2_000
HEARTBEAT_MISSED_MAX: Final = 3  # beats missed before a process stops itself
DEAD_AFTER_MS: Final = 10_000  # more than the missed beats plus the kill grace: only then may others rescue

# The queue -----------------------------------------------------------------------------------------------------------
JOB_OUTPUT_BYTES_MAX: Final = 1024 * 1024
CHECKPOINT_BYTES_MAX: Final = 1024 * 1024
DECODED_BYTES_MAX: Final = VARIABLES_BYTES_MAX  # what a codec's compressed value may become: plain values have no more
METADATA_KEYS_MAX: Final = 64
METADATA_BYTES_MAX: Final = 16 * 1024
LIMITS_PER_JOB_MAX: Final = 8  # each is a row locked when the job starts and ends
LIMIT_MOST_MAX: Final = 100_000
LIMIT_RATE_MAX: Final = 1_000_000
LIMIT_PER_MS_MAX: Final = 366 * 24 * 3_600_000
PARENTS_MAX: Final = 1_000  # jobs that one job comes after
DOOM_DEPTH_MAX: Final = 1_000  # generations of jobs that one deletion takes with it
BATCH_DEPTH_MAX: Final = 32  # batches of jobs within batches of jobs
JOB_ATTEMPTS_KEPT_MAX: Final = 20  # of one job, the last ones that failed, each with its error
JOB_ATTEMPT_CHARS_MAX: Final = 2_000  # of what is kept of one of them
JOB_LOG_LINES_MAX: Final = 1_000  # of one job; later lines are dropped, and the last one says so
JOB_LOG_LINE_CHARS_MAX: Final = 4_000
DELETED_KEPT_MS: Final = 24 * 3_600_000  # how long a deleted job can still be looked at, with the reason
THROTTLED_LOOK_MAX: Final = 1_000  # limited jobs that one claim looks at
FIRINGS_MAX: Final = 1_000  # missed runs of one recurring job that are made up for
BULK_PAGE: Final = 500  # jobs in one transaction of an operation over a filter
FLOW_NODES_MAX: Final = 1_000  # jobs of one flow that are shown as a graph
RUNS_AHEAD_MAX: Final = 100  # due times of a recurring job that are computed for a person
FIRINGS_KEPT_MAX: Final = 50  # of one recurring job: its history
FIRING_JOBS_SHOWN_MAX: Final = 20  # of one firing that made up for many
COUNTED_MAX: Final = 50_000  # jobs of one queue and state that are counted: 5 ms for READY ones, 50 for others
CANDIDATES_MAX: Final = 10_000  # jobs that an index finds for a listing, before it goes along the keys instead
LOOKED_AT_MAX: Final = 50_000  # rows that one page of jobs looks at: about a tenth of a second
STAT_KEPT_MS: Final = 7 * 24 * 3_600_000  # of the counts per minute
