"""What is read back, as it is stored, and the filters of listings. Nothing here is ever written."""

from __future__ import annotations

from procession.store.rows.row import Row

# --- what listings and look-ups give ---------------------------------------------------------------------------------


class StoredDefinition(Row, kw_only=True):
    """A deployed process version."""

    key: int
    process_id: str
    version: int
    name: str
    version_tag: str
    resource: int
    resource_name: str
    checksum: str
    deployment: int
    deployed_at: int
    elements: list[str]
    methods: list[str]
    tenant: str = ""
    deleted: bool = False  # nothing finds it any more but its own key
    created: bool = False  # in the answer to a deployment: True where it made a new version


class StoredDecision(Row, kw_only=True):
    """A deployed decision version."""

    key: int
    decision_id: str
    version: int
    name: str
    version_tag: str
    requirements_id: str
    resource: int
    resource_name: str
    imports: list[int]
    checksum: str
    deployment: int
    deployed_at: int
    tenant: str = ""
    created: bool = False  # in the answer to a deployment: True where it made a new version


class StoredForm(Row, kw_only=True):
    """A deployed form version."""

    key: int
    form_id: str
    version: int
    version_tag: str
    resource: int
    resource_name: str
    checksum: str
    deployment: int
    deployed_at: int
    tenant: str = ""
    created: bool = False  # in the answer to a deployment: True where it made a new version


class Deployed(Row, kw_only=True):
    """The answer to a deployment: what its files define, in the order given, new or found."""

    definitions: list[StoredDefinition] = []
    decisions: list[StoredDecision] = []
    forms: list[StoredForm] = []

    @property
    def is_new(self) -> bool:
        """Whether it made a version of anything."""
        return any(each.created for each in (*self.definitions, *self.decisions, *self.forms))


class StoredInstance(Row, kw_only=True):
    """An instance, running or ended within retention."""

    key: int
    rev: int
    definition: int
    process_id: str
    status: int
    state: bytes
    variables: bytes
    business_id: str = ""
    parent: int = 0
    parent_element_instance: int = 0
    tags: list[str] = []
    tenant: str = ""
    started_at: int = 0
    ended_at: int = 0
    incidents: int = 0  # open incidents (listings)


class StoredJob(Row, kw_only=True):
    """A job as listings show it."""

    key: int
    kind: int
    state: int
    queue: str
    type: str
    instance: int
    element_instance: int
    element: str
    definition: int
    priority: int
    run_at: int
    attempt: int
    retries: int
    lease: int
    owner: int
    error: str
    created_at: int
    args: bytes = b""
    crashes: int = 0  # runs that a crash cut short
    tenant: str = ""


class StoredIncident(Row, kw_only=True):
    """An incident as listings show it."""

    key: int
    instance: int
    element_instance: int
    element: str
    definition: int
    process_id: str
    kind: str
    message: str
    job: int
    created_at: int
    fingerprint: str = ""
    tenant: str = ""


class StoredUserTask(Row, kw_only=True):
    """A user task as listings show it."""

    key: int
    instance: int
    element_instance: int
    element: str
    name: str
    definition: int
    process_id: str
    assignee: str
    candidate_users: list[str]
    candidate_groups: list[str]
    due_at: int
    follow_up_at: int
    priority: int
    form_key: str  # as the model says it; empty where ``form`` says which deployed one
    created_at: int
    tenant: str = ""
    form: int = 0  # the deployed form that it shows


class StoredSubscription(Row, kw_only=True):
    """An open subscription, of an instance or (instance 0) of a start event."""

    key: int
    instance: int
    element_instance: int
    element: str
    definition: int
    process_id: str
    trigger: int
    name: str
    correlation_key: str
    once: bool
    tenant: str = ""


class StoredMessage(Row, kw_only=True):
    """A buffered message."""

    key: int
    name: str
    correlation_key: str
    variables: bytes
    message_id: str
    published_at: int
    expires_at: int
    tenant: str = ""


class StoredNode(Row, kw_only=True):
    """A process that works on this database."""

    node: int
    name: str
    started_at: int
    beat_at: int
    running: int = 0  # jobs leased to it
    details: bytes = b"{}"


class HistoryRow(Row, kw_only=True):
    """One committed step."""

    position: int
    instance: int
    definition: int
    at: int
    events: bytes  # JSON array of events


# --- which rows a listing shows --------------------------------------------------------------------------------------


class InstanceFilter(Row, kw_only=True):
    """Which instances a listing shows; zeros and empty strings do not restrict."""

    process_id: str = ""
    definition: int = 0
    status: int = -1
    statuses: list[int] = []  # any of these, where there are some
    business_id: str = ""
    parent: int = 0
    with_incident: bool = False
    tag: str = ""
    tenant: str = ""
    after: int = 0  # cursor: only keys below this one (newest first)
    limit: int = 100


class UserTaskFilter(Row, kw_only=True):
    """Which user tasks a listing shows; zeros and empty strings do not restrict."""

    key: int = 0  # exactly this one
    instance: int = 0
    process_id: str = ""
    element: str = ""
    assignee: str = ""
    unassigned: bool = False
    candidate_user: str = ""
    candidate_group: str = ""
    due_before: int = 0  # has a due date, and that is earlier
    follow_up_before: int = 0
    priority: int = -1  # at least
    tenant: str = ""
    after: int = 0  # cursor: only keys above this one (oldest first)
    limit: int = 100


class JobFilter(Row, kw_only=True):
    """Which jobs a listing shows."""

    instance: int = 0
    state: int = -1
    kind: int = -1
    queue: str = ""
    type: str = ""
    tenant: str = ""
    after: int = 0  # cursor: only keys above this one (oldest first)
    limit: int = 100
