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
# One machine's file, as plans of two folders have it, and by its whole path.
mkdir "$tmp/sub"
cat >"$tmp/m.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "a box",
 "device": {"name": "a", "memory": 1e9, "bandwidth": 1e10, "launch": 1e-6,
            "overlap": false, "flops": {"f32": 1e12}},
 "levels": [{"name": "bus", "size": 4, "latency": 1e-6, "bandwidth": 1e9}]}
END
sed s/1e12/2e12/ "$tmp/m.json" >"$tmp/other.json"
(cd "$tmp" && for to in here.plan sub/below.plan; do
	quiet tdlc plan "$OLDPWD/show.tdl" -k 4 --topology m.json -o $to
done)
quiet tdlc plan show.tdl -k 4 --topology "$tmp/m.json" -o "$tmp/sub/whole.plan"
quiet tdlc plan show.tdl -k 4 --topology "$tmp/other.json" -o "$tmp/other.plan"
for of in below whole; do
	(cd "$tmp" && tdlc diff here.plan sub/$of.plan | grep predicted)
	(cd "$tmp/sub" && tdlc diff $of.plan ../here.plan | grep predicted)
done
(cd "$tmp" && tdlc diff here.plan other.plan || echo "-> $?") | head -n 1
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
# The operand says what is scored: not the values of options, nor their order.
tdlc score --topology "$tmp/pair.json" "$tmp/plan.json" | head -n 1
tdlc score "$tmp/plan.json" -k 4 || echo "-> $?"
tdlc score --pins "$tmp/plan.json" show.tdl || echo "-> $?"
tdlc compare --topology "$tmp/pair.json" show.tdl || echo "-> $?"
# A plan is one wherever its format stands, and one that is missing is missing.
{ printf '{%300s' ''; tail -c +2 "$tmp/8xk80"; } >"$tmp/s.json"
tdlc score "$tmp/s.json" | head -n 1
tdlc score "$tmp/missing.json" 2>&1 | sed 's/.*missing/missing/'
