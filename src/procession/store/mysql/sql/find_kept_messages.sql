-- Messages that are offered again while they are still buffered for others.
SELECT `key`, process_id, process_ids FROM procession_message WHERE `key` IN (:keys)
