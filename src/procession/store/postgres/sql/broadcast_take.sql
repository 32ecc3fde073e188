-- These subscriptions get no second signal.
update procession.subscription set taken = true where key = any($1::bigint[])
