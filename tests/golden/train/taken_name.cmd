# An operator that has the name of a gradient is none: that is said by grad.
tdlc plan taken_name.tdl --train -k 2
