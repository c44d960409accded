# Conditions that are known whatever the elements beside them are: the constants
# that they choose are numbers of the type around.
tdlc verify beside_data.tdl
