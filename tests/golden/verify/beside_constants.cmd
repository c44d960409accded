# A side of 'or' that is known decides, whatever stands on the left of it.
tdlc verify beside_constants.tdl
