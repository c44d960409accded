tdlc check features.tdl check.tdl --opdefs ../../../opdefs
