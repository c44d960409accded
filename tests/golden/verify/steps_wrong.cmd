# A fault is told where an operator has steps, too, but not between two numbers.
tdlc verify --gradients signed shorter steps_wrong.tdl | sed 's/ (element.*//' |
	grep '^  wrong'
