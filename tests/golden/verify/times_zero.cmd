# A factor of 0 leaves nothing of an index that is no variable.
tdlc verify times_zero.tdl
