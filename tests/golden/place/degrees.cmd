# A table by tensor degree, in milliseconds: its least time per sample, with
# less memory, with none that do; options and files that are not understood.
table=parts/degrees.json
tdlc place $table --algorithm capture
tdlc place $table --algorithm capture --memory 24M --link 10 2>/dev/null
tdlc place $table --algorithm capture -k 2 --micro-batches 2 --json 2>/dev/null |
	sed 's/^  "seconds": .*/  "seconds": S,/'
tdlc place $table --algorithm capture --memory 12M -k 2 2>&1 | grep -v warning
for options in "--zero" "--objective peak" "--topology cpu" "-o x.json" "--link 1,5"; do
	tdlc place $table --algorithm capture $options 2>&1 | head -n 1
done
try() {
	sed "$1" $table >"$tmp/t.json"
	tdlc place "$tmp/t.json" --algorithm capture 2>&1
	echo "status $?"
}
try 's/"maxDevices": 4/"maxDevices": 0/'
try 's/"id": 2, "name"/"id": 1, "name"/'
try 's/"destId": 4/"destId": 1/'
try 's/"2": \[/"two": [/'
try 's/"timePerSample": 8.0,/"timePerSample": -8.0,/'
try 's/"syncTimeBw": {"2": 0}/"syncTimeBw": {}/'
try 's/"syncTimeBw": {}/"syncTimeBw": {"1": 0}/'
try '$d'
