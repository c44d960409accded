tdlc explain conv2d parts/language.tdl
tdlc explain conv2d parts/language.tdl --shape x=2x3x9x9 --shape w=4x3x3x3 -D strides=2,2 -D "pads=[1, 1, 1, 1]" -k 2
