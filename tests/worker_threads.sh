#!/bin/sh
# Tests: runtime/run runtime/cpu
# tdlrun --threads: as many threads as asked for; the same bits by any number.
. "${srcdir:-.}/tests/lib.sh"

models=$(cd "${srcdir:-.}/examples/models" && pwd)

# same NAME ARGUMENT...: any number of threads gives the same bits.
same() {
	name=$1
	shift
	expect 0 "$TDLC" plan "$models/$name.tdl" "$@" -k 1 -o "$tmp/plan"
	for n in 1 2 5; do
		expect 0 "$TDLRUN" "$tmp/plan" --threads $n \
			--outputs "$tmp/$n.npz"
		cmp -s "$tmp/1.npz" "$tmp/$n.npz" ||
			fail "$name, $n threads: other results"
	done
}

same unet -D batch=1 -D image=16 -D width=24 -D 'widen=[1,2]' -D depth=1 \
	-D attention_at=8 -D groups=8
same mlp -D batch=64 -D width=320 -D depth=2 --train
expect 2 "$TDLRUN" "$tmp/plan" --threads 0
"$TDLRUN" "$tmp/none" --backend cuda 2>&1 | grep -q 'not built in' ||
	expect 2 "$TDLRUN" "$tmp/plan" --threads 2 --backend cuda

# threads N: the threads of a run, most of those that are seen.
threads() {
	"$TDLRUN" "$tmp/plan" --steps 100000 --threads "$1" >"$tmp/out" 2>&1 &
	run=$! most=0
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		set -- "$1" "/proc/$run/task"/*
		[ $(($# - 1)) -le $most ] || most=$(($# - 1))
		[ $most -ge "$1" ] && break
		sleep 0.2
	done
	kill $run
	wait $run 2>"$tmp/err"
	[ $most -eq "$1" ] || fail "$most threads, not $1"
}

if [ -d /proc/self/task ]; then
	threads 4
	threads 7
fi
finish
