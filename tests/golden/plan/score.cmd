# The cost of a plan on its own machine, on another, and of one for none; plans
# for two machines are compared on one that is named.
quiet() { "$@" >"$tmp/out" || echo "-> $?"; }
for machine in 8xk80 8xh100-nvlink; do
	quiet tdlc plan show.tdl -k 4 --topology $machine -o "$tmp/$machine"
done
quiet tdlc plan show.tdl -k 4 -o "$tmp/none"
tdlc score "$tmp/8xk80"
tdlc score "$tmp/8xk80" --topology 8xh100-nvlink
tdlc score "$tmp/8xk80" --topology 8xh100-nvlink --json | sed "s/: .*//"
tdlc score "$tmp/none"
tdlc diff "$tmp/8xk80" "$tmp/8xh100-nvlink" || echo "-> $?"
tdlc diff "$tmp/8xk80" "$tmp/8xh100-nvlink" --topology cpu | grep predicted
tdlc diff "$tmp/none" "$tmp/8xh100-nvlink" | grep predicted
tdlc score "$tmp/none" "$tmp/8xk80" || echo "-> $?"
tdlc score "$tmp/missing" 2>&1 | sed 's/.*missing/missing/'
tdlc explain --plan "$tmp/8xk80" --tensor w_01 --topology 8xh100-nvlink | sed -n '4p;/^\*/p'
tdlc explain --plan "$tmp/8xk80" --tensor w_01 --stages 2 || echo "-> $?"
# Machines and profiles are files like cost graphs.
cat >"$tmp/pair.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "pair",
 "device": {"name": "core", "memory": 1000000000, "bandwidth": 1e11, "flops": {"f32": 1e9}},
 "levels": [{"name": "net", "size": 4, "latency": 1e-5, "bandwidth": 1e7}]}
END
cp "$tmp/8xk80" "$tmp/plan.json"
tdlc score "$tmp/plan.json" --topology "$tmp/pair.json"
