# Warnings: transfers that take almost no time, options without effect.
sed 's/"size": 1000}/"size": 1e12}/' parts/two.json >"$tmp/g.json"
tdlc place "$tmp/g.json" -k 2 --algorithm heft | sed -n 1,2p
tdlc place parts/two.json -k 2 --algorithm heft --schedule 1f1b 2>&1 | head -n 1
tdlc place parts/two.json -k 2 --algorithm load --schedule 1f1b 2>&1 | head -n 1
tdlc place parts/net.graph.txt -k 2 --algorithm mcap --link 1,5 2>&1 | head -n 1
tdlc place parts/two.json -k 2 -I . 2>&1 | head -n 1
tdlc place parts/two.json -k 2 --opdefs . --algorithm load 2>&1 | head -n 1
tdlc score parts/two.json -k 2 --opdefs . --placement x 2>&1 | head -n 1
tdlc compare parts/two.json -k 2 -I . 2>&1 | head -n 1
