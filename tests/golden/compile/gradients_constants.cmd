# Constants whose type follows from what is around them.
tdlc compile --gradients gradients_constants.tdl -o -
tdlc verify --gradients gradients_constants.tdl
