# The vocabulary split that experts write by hand, unaided.
tdlc explain embedding parts/language.tdl
tdlc explain embedding parts/language.tdl --shape ids=4x6 --shape table=10x8 -k 2 --json
