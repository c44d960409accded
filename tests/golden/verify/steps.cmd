# Differences on other steps than the number itself are no slopes.
tdlc verify --gradients steps.tdl
