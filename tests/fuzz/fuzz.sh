#!/bin/sh
# Runs the fuzz targets under libFuzzer, from the build folder.
#
#	fuzz.sh [-t SECONDS] [TARGET]...	by default 60 s for each
#
# fuzz/corpus/TARGET grows from run to run; what ends a run is in fuzz/found/.
set -eu

here=$(dirname "$0")
seconds=60
while getopts t: option; do
	case $option in
	t) seconds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ "${FUZZ-}" = yes ] || {
	echo "fuzz targets need ./configure --enable-fuzz CC=clang" >&2
	exit 2
}

# Arenas free much at a time; little of it has to be kept back.
ASAN_OPTIONS=quarantine_size_mb=8:allocator_may_return_null=1:${ASAN_OPTIONS-}
UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}
export ASAN_OPTIONS UBSAN_OPTIONS
seeds=fuzz/seeds
[ -e fuzz/seeds ] || {
	echo 'making seeds'
	rm -rf fuzz/seeds.tmp
	"${SHELL:-sh}" "$here/corpus.sh" fuzz/seeds.tmp
	mv fuzz/seeds.tmp fuzz/seeds
}

status=0
all='descriptor model npz onnx place placement plan profile tdl wcsp'
for target in ${*:-$all}; do
	mkdir -p "fuzz/corpus/$target" fuzz/found
	regressions=$here/regressions/$target
	[ -e "$regressions" ] || regressions=
	log=fuzz/$target.log
	case $target in
	model | tdl) most=16000 ;;
	plan) most=20000 ;;
	*) most=4096 ;;
	esac
	"tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=2048 -max_len="$most" -print_final_stats=1 \
		-use_value_profile=0 -artifact_prefix="fuzz/found/$target-" \
		"fuzz/corpus/$target" "$seeds/$target" \
		$regressions >"$log" 2>&1 || {
		status=1
		echo "$target: FAILED, see $log"
	}
	awk -v target="$target" '
		/cov: / { cov = $4; ft = $6 }
		/number_of_executed_units/ { n = $2 }
		/average_exec_per_sec/ { rate = $2 }
		/peak_rss_mb/ { rss = $2 }
		END { printf "%-12s %9d executions, %6d a second, " \
			"%6d edges, %6d features, %5d MB\n",
			target, n, rate, cov, ft, rss }' "$log"
done
exit $status
