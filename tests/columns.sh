#!/bin/sh
# No line that a program prints for people is wider than 80 columns, where a
# word is not.
set -eu
. "${srcdir:=.}/tests/lib.sh"

models=$srcdir/examples/models

# fits COMMAND..: prints at most 80 columns a line.
fits() {
	"$@" >"$tmp/out" || fail "$*: status $?"
	LC_ALL=C awk -v command="$*" '{
		gsub(/[\200-\277]/, "") # of characters the first bytes
	}
	length($0) > 80 {
		longest = 0
		for (i = 1; i <= NF; i++)
			if (length($i) > longest)
				longest = length($i)
		if (longest < 60)
			print command ": " length($0) " columns: " $0
	}' "$tmp/out" >"$tmp/wide"
	[ ! -s "$tmp/wide" ] || { cat "$tmp/wide"; fail "$* is too wide"; }
	nfits=$((nfits + 1))
}
nfits=0

for command in $("$TDLC" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
	fits "$TDLC" "$command" --help
done
fits "$TDLC" --help
fits "$TDLRUN" --help
fits "$TDLC" ops
for op in conv2d attention_scores rotary softmax matmul top; do
	fits "$TDLC" explain "$op"
	fits "$TDLC" explain "$op" -k 2
done
fits "$TDLC" verify --gradients --trials 2 softmax conv2d
fits "$TDLC" show "$models/gpt2.tdl"
fits "$TDLC" show "$models/gpt2.tdl" --train
fits "$TDLC" plan "$models/gpt2.tdl" --train -k 8 -o "$tmp/a"
fits "$TDLC" show "$tmp/a"
fits "$TDLC" plan "$models/mlp.tdl" -k 8 -o "$tmp/b" --algorithm auto
fits "$TDLC" plan "$models/mlp.tdl" -k 8 -o "$tmp/b" --algorithm pase
fits "$TDLC" plan "$models/mlp.tdl" -k 8 --frontier
fits "$TDLC" plan "$models/alexnet.tdl" -k 6 -o "$tmp/c" --algorithm joint
fits "$TDLC" compare "$models/alexnet.tdl" -k 8
fits "$TDLC" coverage "$models/vit.tdl"
fits "$TDLC" plan "$models/mlp.tdl" -k 8 -o "$tmp/d"
fits "$TDLC" diff "$tmp/b" "$tmp/d"
fits "$TDLC" explain --plan "$tmp/d" --tensor x
fits "$TDLC" place "$models/mlp.tdl" -k 4
fits "$TDLC" place "$models/mlp.tdl" -k 4 --algorithm mcap
fits "$TDLC" place "$models/mlp.tdl" --train -k 4 --algorithm mcap --frontier
parts=$srcdir/tests/golden/place/parts
for algorithm in mcap pipedream load best; do
	fits "$TDLC" place "$parts/net.graph.txt" -k 3 --link 1 \
		--algorithm $algorithm
done
fits "$TDLC" place "$parts/net.layers.json" --algorithm capture --frontier
fits "$TDLC" place "$parts/degrees.json" --algorithm capture 2>"$tmp/warned"
fits "$TDLC" place "$parts/two.json" -k 2 --algorithm load --any-split
fits "$TDLC" place "$parts/two.json" -k 2 -o "$tmp/p"
fits "$TDLC" score "$parts/two.json" -k 2 --placement "$tmp/p"
fits "$TDLC" compare "$srcdir/tests/golden/place/parts/two.json" -k 2
echo "$nfits commands"
finish
