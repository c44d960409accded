tdlc verify --strict constants.tdl
