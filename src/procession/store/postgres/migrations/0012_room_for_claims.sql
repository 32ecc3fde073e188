-- Room in each page for the claimed versions of its jobs, three fifths of which then stay where they are. One that moves costs
-- a lock of its own in the log and is written there whole: 400 bytes for a claim and its end instead of 446. Pages filled
-- before stay as they are.

alter table procession.job set (fillfactor = 60);
