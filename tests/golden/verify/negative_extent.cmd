# An attribute that is an extent is drawn below 0, too.
tdlc verify --gradients negative_extent.tdl
