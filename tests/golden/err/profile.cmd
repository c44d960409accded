# Profiles that cannot be.
try() {
	printf "$1" >"$tmp/graph.txt"
	tdlc place "$tmp/graph.txt" -k 2 ${2---link 12} 2>&1
	echo "status $?"
}
node() {
	echo "$1 -- Linear -- forward_compute_time=${2-1.0}, backward_compute_time=1.0, activation_size=${3-8.0}, parameter_size=4.0"
}
try ''
try 'import graph\n'
try 'node1 -- Linear(8, 8)\n'
try "$(node a nan)"
try "$(node a -1)"
try "$(node a 1e30)"
try "$(node a 1 [1.0)"
try "$(node a 1 many)"
try "$(node a 1 '[.]')"
try "$(node a 1 '[.;1]')"
try "$(node a 0x10)"
try "$(node a .)"
try "$(node a 1e)"
try "$(node a 1)\n$(node b 1)\\0$(node c 1)\n"
try "$(node a 1 '[.5; 8.e0, 1.5E+1]')\n" "--link 12 --algorithm single"
try 'a -- Linear -- forward_compute_time=1.0\n'
try "$(node a)\n$(node a)\n"
try "$(node a)\na -- b\n"
try "$(node a)\n$(node b)\na -- b\nb -- a\n"
try "$(node a)\n$(node b)\na -- b\n" "--algorithm heft"
# Steps, and times, of which there are too many.
long=$(node a 1e9)
for id in b c d; do
	long="$long\\n$(node $id 1e9)"
done
try "$long" "--link 12 --algorithm mcap --micro-batches 65536"
try "$long" "--link 1e-9 --algorithm mcap --micro-batches 1"
try "$long" "--algorithm mcap --schedule zb --micro-batches 65536"
many=$(for i in $(seq 64); do node $i; done | sed 's/$/\\n/' | tr -d '\n')
try "$many" "-k 64 --algorithm mcap --micro-batches 65536"
try "$many" "-k 64 --algorithm mcap --schedule zb --micro-batches 40000"
# .. and bytes.
large=$(node a 1.0 0x | sed 's/0x/1125899906842624/')
try "$large\n$(node b)" "--algorithm mcap --micro-batches 65536 --schedule gpipe"
try "$(node a | sed 's/size=4.0/size=1125899906842624/')\n" "--link 12 --factor 1e6"
try "$large\n$(node b)\na -- b\n" "--link 1e-9"
