tdlc explain softmax parts/language.tdl -k 2
tdlc explain softmax parts/language.tdl --shape x=4x6 -D axis=0 -k 2
