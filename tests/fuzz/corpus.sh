#!/bin/sh
# Seeds for the fuzz targets: of the operator library, the golden tests and,
# where Python has onnx, ONNX's node tests.
#
#	corpus.sh FOLDER	makes FOLDER/TARGET/ for each target
set -eu

here=${srcdir:-.}/tests
to=$1
most=4000	# bytes of a model
for target in descriptor model npz onnx place placement plan profile tdl \
	wcsp; do
	mkdir -p "$to/$target"
done
tdlc() { "$TDLC" "$@" 2>/dev/null; }

# Each definition of the library, with what stands before it.
for file in "$TDL_OPDEFS"/*.tdl "$TDL_OPDEFS"/onnx/*.tdl; do
	name=$(basename "$(dirname "$file")")_$(basename "$file" .tdl)
	cp "$file" "$to/tdl/$name"
	awk -v to="$to/tdl/$name" '
		BEGIN { RS = "" }
		/(^|\n)(op|opaque|onnx) / { print >(to "." NR) }' "$file"
done
find "$here/golden" "${srcdir:-.}/examples" -name '*.tdl' |
while read -r file; do
	cp "$file" "$to/tdl/$(echo "$file" | tr / _)"
done
# The models among them.
grep -l '^model ' "$to"/tdl/* | while read -r file; do
	cp "$file" "$to/model"
done
# The descriptors of those that stand by themselves.
for file in "$to"/tdl/*; do
	tdlc compile "$file" -o "$to/descriptor/$(basename "$file")" || :
done
cp "$here"/data/wcsp/*.wcsp "$to/wcsp"
cp "$here"/golden/place/parts/* "$to/place"
echo '{"format": "tdl-placement", "version": 1, "devices": 2, "placement": [
{"id": 0, "device": 0}, {"id": 1, "device": 1}, {"id": 2, "device": 2}]}' \
	>"$to/placement/three"
# In one line each, as many small problems as combinations.
for n in 1 2 3; do
	for top in 0 7 1000; do
		echo "p$n 2 $n 2 $top $n $n -2 0 1 $n 1 0 0 $((n + 1))" \
			"1 1 2 1 0 5" >"$to/wcsp/small.$n.$top"
	done
done

find "$here" -name '*.onnx' -size -8 | while read -r file; do
	cp "$file" "$to/onnx/$(echo "$file" | tr / _)"
done
"$PYTHON" "$(dirname "$0")/corpus.py" "$to/onnx" "$most" || {
	[ $? -eq 77 ] || exit 1
}

# A model as a plan, without the sources of its kernels, and what it computes.
add_plan() { # MODEL OPTION..
	plan=$to/plan/$(basename "$1")
	tdlc plan "$@" -o "$plan" >/dev/null || :
	[ -e "$plan" ] || return 0
	"$TDLRUN" --kernels interpreter "$plan" --outputs \
		"$to/npz/$(basename "$1").npz" \
		--profile "$to/profile/$(basename "$1")" >/dev/null 2>&1 || :
	sed 's/"c": *"\([^"\\]\|\\.\)*"/"c": ""/g' "$plan" >"$plan.tmp"
	mv "$plan.tmp" "$plan"
}
# Every 12th of them, and one that is trained.
n=0
for file in "$to"/onnx/*; do
	n=$((n + 1))
	[ $((n % 12)) -eq 0 ] || continue
	add_plan "$file" -k $((1 + n / 12 % 4))
done
add_plan "$here/golden/plan/kept.tdl" -k 2 --train --optimizer adamw
add_plan "$here/golden/plan/statistics.tdl" --model normal -k 2 --train \
	--algorithm data-parallel --micro-batches 4 --micro-batch-statistics \
	--memory 1M --bucket-bytes 1M
