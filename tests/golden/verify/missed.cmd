# Strategies that work and are not derived: they are reported, and are failures
# with --strict alone.
tdlc verify missed.tdl
echo "exit status $?"
tdlc verify --strict positive missed.tdl
echo "exit status $?"
tdlc verify --strict shifted missed.tdl
