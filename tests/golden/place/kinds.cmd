# Devices of different speed and memory.
cat >"$tmp/t.json" <<'EOF'
{"format": "tdl-topology", "version": 1, "name": "mixed",
 "device": {"memory": 600, "bandwidth": 1e9, "flops": {"f32": 1e9}},
 "levels": [{"latency": 1e-4, "bandwidth": 1e7}],
 "devices": [{"speed": 0.5}, {"memory": 500, "speed": 2}, {"count": 2}]}
EOF
tdlc place parts/two.json -k 3 --topology "$tmp/t.json" -o "$tmp/p.json"
tdlc place parts/two.json -k 1 --topology "$tmp/t.json"
tdlc place parts/two.json -k 5 --topology "$tmp/t.json"
tdlc place parts/two.json -k 2 --algorithm load --topology "$tmp/t.json" 2>&1 | head -n 1
sed 's/"device": [0-9]/"device": 1/' "$tmp/p.json" >"$tmp/q.json"
tdlc score parts/two.json -k 3 --topology "$tmp/t.json" --placement "$tmp/q.json"
