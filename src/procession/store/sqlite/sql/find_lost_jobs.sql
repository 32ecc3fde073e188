SELECT key, queue, crashes + 1
FROM job
WHERE state = 1 AND owner NOT IN (SELECT node FROM node)
ORDER BY key
LIMIT :limit
