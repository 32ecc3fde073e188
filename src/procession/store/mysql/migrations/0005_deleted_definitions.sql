-- A deleted version stays until nobody can start an instance of it any more: processes remember versions for a while.

ALTER TABLE procession_definition ADD COLUMN deleted_at BIGINT;
