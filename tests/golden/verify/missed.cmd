# What is not derived, but works: reported, and a failure only if asked.
tdlc verify missed.tdl
echo "exit status $?"
tdlc verify --strict positive missed.tdl
echo "exit status $?"
tdlc verify --strict shifted missed.tdl
