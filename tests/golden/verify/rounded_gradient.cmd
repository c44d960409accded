# What is wrong in short types alone is found, and what is not compared is told.
tdlc verify --gradients rounded_gradient.tdl | sed 's/ (element.*//'
tdlc verify --gradients --strict causal rounded_gradient.tdl || echo "status $?"
tdlc verify --gradients --strict hidden rounded_gradient.tdl || echo "status $?"
