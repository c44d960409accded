# What follows from element types, for shapes and before they are known.
tdlc verify facts.tdl
tdlc explain square_of_integers facts.tdl | grep '^partial'
tdlc explain above_least facts.tdl | grep '^partial'
tdlc explain few_bits facts.tdl | grep '^partial'
tdlc explain power_of_bool facts.tdl | grep '^partial' || echo none
tdlc explain no_infinity facts.tdl | grep '^partial'
tdlc explain masked facts.tdl | grep '^partial'
tdlc explain weighted facts.tdl | grep '^partial'
