-- One deployment at a time: versions count without gaps, and start events change hands once.
lock table procession.deployment in share row exclusive mode
