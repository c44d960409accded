tdlc verify --gradients --trials 5 wrong_gradient.tdl | sed 's/; --shape.*//'
tdlc verify --gradients wrong_gradient.tdl >/dev/null
