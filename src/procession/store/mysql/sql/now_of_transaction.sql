SELECT @now
