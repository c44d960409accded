tdlc ops --opdefs parts
tdlc ops --opdefs parts --json
tdlc ops extra
