tdlc verify --gradients not_finite.tdl
