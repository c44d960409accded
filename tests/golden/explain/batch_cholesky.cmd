tdlc explain batch_cholesky parts/language.tdl
tdlc explain batch_cholesky parts/language.tdl --shape a=4x3x3 -k 2 --json
