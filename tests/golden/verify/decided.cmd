tdlc verify --strict decided.tdl
