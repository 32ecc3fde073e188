-- The message start events of the processes whose ending instances held a channel.
SELECT instance.`key`, start.`key`, start.element, start.definition, start.process_id, start.name, start.tenant
FROM procession_instance AS instance
JOIN procession_start_subscription AS start
    ON start.process_id = instance.process_id AND start.tenant = instance.tenant AND start.`trigger` = 1
WHERE instance.`key` IN (:keys)
ORDER BY instance.`key`, start.`key`
