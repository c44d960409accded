tdlc explain conv1d parts/language.tdl -k 2 --json
