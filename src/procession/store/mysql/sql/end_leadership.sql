UPDATE procession_leader SET `until` = 0 WHERE node = :node
