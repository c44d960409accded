# A number that saturate() keeps within a range from 0 on is not -0.
tdlc verify zeros.tdl
