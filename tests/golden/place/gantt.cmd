# The schedule as text, and as SVG that names operators and escapes them.
tdlc place parts/two.json -k 2 --algorithm heft --gantt - | head -n 2
sed 's/"left"/"<left>"/' parts/two.json >"$tmp/g.json"
tdlc place "$tmp/g.json" -k 2 --gantt "$tmp/g.svg" | head -n 1
cat "$tmp/g.svg"
