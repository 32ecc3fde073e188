DELETE FROM node WHERE beat_at <= :beat_at RETURNING node
