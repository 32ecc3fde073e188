-- The last places in line of keys that are held.
UPDATE procession_fair_place SET place = :place WHERE queue = :queue AND `key` = :key
