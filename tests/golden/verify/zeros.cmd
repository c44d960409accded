# What is kept within a range that begins at 0 is no negative zero.
tdlc verify zeros.tdl
