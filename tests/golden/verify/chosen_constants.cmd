# Constants that a condition on elements chooses or that are reduced, converted
# and beside numbers of other types.
tdlc verify chosen_constants.tdl
