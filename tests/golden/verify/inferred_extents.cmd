# The extent of a variable is that of what it indexes, wherever the read stands.
tdlc verify inferred_extents.tdl --gradients
