# The decisions of a plan: a row for each kind of tensor and operator of
# repeated blocks; numbers with a leading zero are text.
tdlc plan show.tdl -k 4 -o show.plan >/dev/null
tdlc show show.plan
tdlc show show.plan --json | grep -A12 '"transfers"' | head -8
tdlc show show.plan --topology 8xk80 | grep predicted
tdlc show show.plan --costs 2>&1 | head -1
tdlc show show.plan --clip-norm 1 2>&1 | head -1
rm show.plan
echo '{ "plan": 2 }' >show.plan
tdlc show show.plan
rm show.plan
