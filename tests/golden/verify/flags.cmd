# Gradients of what is used under flags, and of conditions that may wrap around.
tdlc verify --gradients flags.tdl
tdlc compile --gradients flags.tdl -o - | grep 'dp\|>= 0'
