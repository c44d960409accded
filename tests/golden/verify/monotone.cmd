# What the descriptor says of partial values is what kernels say.
tdlc verify monotone.tdl
tdlc explain negative_divisor monotone.tdl | grep '^partial'
tdlc explain squared_factor monotone.tdl | grep '^partial'
tdlc explain greater_negative monotone.tdl | grep '^partial'
tdlc explain above monotone.tdl | grep '^partial'
tdlc explain not_above monotone.tdl | grep '^partial'
tdlc explain above_whole monotone.tdl | grep '^partial'
tdlc explain whole_part monotone.tdl | grep '^partial' || echo none
