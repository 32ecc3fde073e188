-- One migration of this database at a time; it ends with the session.
SELECT GET_LOCK(:name, :wait_s)
