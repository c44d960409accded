tdlc explain softmax parts/language.tdl --shape x=4x6 -k 2 --json
