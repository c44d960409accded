# Constants that a condition on elements chooses, converted.
tdlc verify chosen_constants.tdl
