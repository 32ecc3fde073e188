DELETE FROM node WHERE node = :node
