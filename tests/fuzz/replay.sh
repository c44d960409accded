#!/bin/sh
# Tests: dsl plan compiler/onnx compiler/model compiler/solver
# Gives each fuzz target the inputs on which it once failed, and files of other
# tests; and, unless libFuzzer drives the targets, random mutations of these.
. "${srcdir:-.}/tests/lib.sh"

here=${srcdir:-.}/tests

# give TARGET FILE|FOLDER...: runs the target on each file, and its mutations.
give() {
	target=$1
	shift
	[ "${FUZZ-}" = yes ] || set -- -mutate=10 "$@"
	timeout 120 "tests/fuzz/$target" "$@" >"$tmp/out" 2>&1 || {
		fail "$target fails on one of its inputs:"
		tail -n 5 "$tmp/out"
	}
}

for folder in "$here"/fuzz/regressions/*; do
	give "$(basename "$folder")" "$folder"/*
done
give onnx "$here"/golden/graph/*.onnx
give model "$here"/golden/model/*.tdl
give tdl "$here"/golden/dsl/*.tdl "$here"/golden/err/*.tdl
give place "$here"/golden/place/parts/*
echo '{"format": "tdl-placement", "version": 1, "devices": 2, "placement": [
{"id": 0, "device": 0}, {"id": 1, "device": 1}, {"id": 2, "device": 2}]}' \
	>"$tmp/three"
give placement "$tmp/three"
give wcsp "$here"/data/wcsp/*.wcsp
"$TDLC" compile "$here/golden/dsl/language.tdl" -o "$tmp/language.tdd" ||
	fail "cannot make a descriptor"
give descriptor "$tmp/language.tdd"
"$TDLC" plan "$here/golden/plan/matmul.onnx" -k 2 -o "$tmp/matmul.plan" \
	>"$tmp/out" || fail "cannot make a plan"
give plan "$tmp/matmul.plan"
"$TDLRUN" "$tmp/matmul.plan" --kernels interpreter --outputs "$tmp/y.npz" \
	--profile "$tmp/profile" --steps 3 >"$tmp/out" ||
	fail "cannot make an .npz"
give npz "$tmp/y.npz"
give profile "$tmp/profile"
finish
