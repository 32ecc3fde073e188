INSERT INTO procession_batch_error (batch, item, message) VALUES (:batch, :item, :message) ON CONFLICT DO NOTHING
