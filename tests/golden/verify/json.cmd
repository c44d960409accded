tdlc verify --trials 3 --seed 7 --json positive missed.tdl
