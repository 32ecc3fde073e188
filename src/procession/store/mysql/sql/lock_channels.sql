-- Until the transaction ends; everyone takes them in this order.
SELECT bucket FROM procession_channel_lock WHERE bucket IN (:buckets) ORDER BY bucket FOR UPDATE
