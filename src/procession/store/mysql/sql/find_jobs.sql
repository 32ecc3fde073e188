-- Which of these keys are in use.
SELECT `key` FROM procession_job WHERE `key` IN (:keys)
