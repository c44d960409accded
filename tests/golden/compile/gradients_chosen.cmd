# Choices that are decided when planning, or by the gradient, have their type.
tdlc compile --gradients gradients_chosen.tdl -o -
tdlc verify --gradients gradients_chosen.tdl
