# Conversions that derived operators need.
tdlc compile --gradients gradients_types.tdl -o -
tdlc verify --gradients gradients_types.tdl
