tdlc explain conv1d parts/language.tdl --shape data=8x16x34 --shape filters=16x4x3 -k 4
