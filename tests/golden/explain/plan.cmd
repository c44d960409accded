# Why a plan cuts a tensor as it does: choices, neighbours, what refuses.
quiet() { "$@" >"$tmp/out" || echo "-> $?"; }
quiet tdlc plan plan.tdl -k 6 --train --optimizer adam -o "$tmp/plan"
for tensor in w x y target; do
	tdlc explain --plan "$tmp/plan" --tensor "$tensor"
	echo
done
tdlc explain --plan "$tmp/plan" --tensor w.next --algorithm joint --json
quiet tdlc plan plan.tdl -k 1 -o "$tmp/one"
tdlc explain --plan "$tmp/one" --tensor loss
tdlc explain --plan "$tmp/one" --tensor nothing 2>&1 | sed 's/ in .*plan.*//; s/ in .*one$//'
tdlc explain --plan "$tmp/one"
tdlc explain --tensor w
tdlc explain --plan "$tmp/one" --tensor w -k 2
tdlc explain --plan plan.tdl --tensor w
tdlc explain matmul --algorithm joint
