-- A deleted version stays until nobody can start an instance of it any more: processes remember versions for a while.

alter table procession.definition add column deleted_at timestamptz;
