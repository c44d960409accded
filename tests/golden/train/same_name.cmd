# The gradient itself, written down, is the same operator.
tdlc plan same_name.tdl --train -k 2 | sed -n 1,3p
