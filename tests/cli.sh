#!/bin/sh
# Tests: base compiler/driver runtime/run
# The command line of both programs: help, version, exit statuses, usage
# errors, output that cannot be written, colours.
. "${srcdir:-.}/tests/lib.sh"

# usage_error COMMAND...: status 2, says where to find help, prints nothing.
usage_error() {
	expect 2 "$@"
	says "^Try '.* --help' for more information\.\$"
	silent out
}

# ---- help and version -------------------------------------------------------

for program in "$TDLC" "$TDLRUN"; do
	name=$(basename "$program")
	for option in --help -h; do
		expect 0 "$program" "$option"
		prints "^Usage: $name "
		silent err
	done
	for option in --version -V; do
		expect 0 "$program" "$option"
		prints "^$name (tdlc) [0-9]*\.[0-9]*\.[0-9]*\$"
		prints 'Apache-2.0'
		silent err
	done
	usage_error "$program"
	usage_error "$program" --nope
	says "unrecognized option '--nope'"
	expect 4 sh -c '"$0" --help >/dev/full' "$program"
	says 'No space left on device'
	expect 4 sh -c '"$0" --version >&-' "$program"
	says 'Bad file descriptor'
done

commands=$("$TDLC" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$commands" ] || fail "tdlc --help lists no command"
expect 0 "$TDLC" help
prints '^Commands:'
usage_error "$TDLC" frobnicate
says "unknown command 'frobnicate'"
usage_error "$TDLC" help frobnicate
usage_error "$TDLC" help plan plan
usage_error "$TDLC" plan --help=3

# named PROGRAM [COMMAND] OPTION WORD...: among the values that it names.
named() {
	words=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	shift
	option=$1
	shift
	# shellcheck disable=SC2086
	expect 0 $words --help="$option"
	for word; do
		prints "^$word\$"
	done
}
named "$TDLC" plan -- algorithm tofu auto mcap
named "$TDLC" compare -- topology cpu h100-cluster
named "$TDLC" plan -- schedule 1f1b auto
named "$TDLC" place -- algorithm heft best
named "$TDLC" compile -- emit header
named "$TDLC" plan -- devices
[ ! -s "$tmp/out" ] || fail '--help=devices names values'
# An option by its letter; a cost graph has other algorithms than a model.
named "$TDLC" plan -- k
named "$TDLC" compare -- algorithm joint mcap heft
named "$TDLRUN" -- comm mpi

# Each is a value that the option takes.
for option in algorithm inside topology schedule objective bucket-bytes; do
	for word in $("$TDLC" plan --help="$option"); do
		"$TDLC" plan "$tmp/none.onnx" -k 2 --"$option" "$word" \
			>"$tmp/out" 2>"$tmp/err"
		! grep -e "'$word'" "$tmp/err" >/dev/null ||
			fail "--$option does not take $word"
	done
done

for command in $commands; do
	expect 0 "$TDLC" "$command" --help
	prints "^Usage: tdlc $command "
	prints '^  -h, --help'
	silent err
	cp "$tmp/out" "$tmp/help"
	expect 0 "$TDLC" help "$command"
	cmp -s "$tmp/out" "$tmp/help" || fail "help $command != $command --help"
	usage_error "$TDLC" "$command" --nope
	says "^tdlc $command: unrecognized option '--nope'"
	usage_error "$TDLC" "$command" --diagnostics=xml
	expect 4 sh -c '"$0" "$1" --help >/dev/full' "$TDLC" "$command"
	case $command in
	doc | ops | verify) ;;	# without operands, of the whole library
	*) usage_error "$TDLC" "$command" ;;
	esac
done

# ---- values of options ------------------------------------------------------

cat >"$tmp/good.tdl" <<'END'
op twice(x[N]) -> y[N] = lambda i: x[i] + x[i]
END
cat >"$tmp/bad.tdl" <<'END'
op twice(x[N]) -> y[N] = lambda i: x[j] + x[i]
END

for k in 0 -1 8x '' 1.5 ' 8' 99999999999999999999; do
	usage_error "$TDLC" plan "$tmp/none.onnx" -k "$k"
	usage_error "$TDLC" explain twice "$tmp/good.tdl" -k "$k"
done
usage_error "$TDLC" plan "$tmp/none.onnx"	# -k is missing
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 --shape x=2x
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 --shape x
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 -D n
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 -D n=two
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 -D n=4 -D m=4 -D n=5
says "-D n is given twice"
usage_error "$TDLC" show "$tmp/none.onnx" --shape x=2 --shape x=2
says "--shape x is given twice"
usage_error "$TDLC" explain twice "$tmp/good.tdl" --shape x=2 --shape x=3
says "--shape x is given twice"
usage_error "$TDLC" plan "$tmp/none.onnx" -k 2 --algorithm nope
expect 0 "$TDLC" plan --help
prints 'ilp, auto;'
usage_error "$TDLC" plan "$tmp/none.onnx" "$tmp/none.onnx" -k 2
usage_error "$TDLC" compile "$tmp/good.tdl" --emit=nope -o -

expect 4 env PATH=/nowhere "$TDLC" plan \
	"${srcdir:-.}/tests/golden/plan/matmul.onnx" -k 2 --algorithm ilp
says '^tdlc plan: ilp: no solver of 0-1 programs is installed: neither highs'
silent out

# ---- input that is not there; diagnostics -----------------------------------

for command in check 'fmt --check' 'compile -o -' 'explain twice' show \
	'plan -k 2' 'compare -k 2'; do
	# shellcheck disable=SC2086
	expect 1 "$TDLC" $command "$tmp/none.tdl"
	says 'No such file or directory \[cannot-read\]'
	silent out
	# shellcheck disable=SC2086
	expect 1 "$TDLC" $command "$tmp"
	says '\[cannot-read\]'
done
expect 1 "$TDLRUN" "$tmp/none.plan"
says 'No such file or directory \[cannot-read\]'
expect 1 "$TDLC" ops --opdefs "$tmp/none"
says '\[cannot-read\]'

expect 0 "$TDLC" check "$tmp/good.tdl"
silent err
expect 1 "$TDLC" check "$tmp/bad.tdl"
says "^$tmp/bad.tdl:1:[0-9]*: error: "
silent out
expect 1 "$TDLC" check --diagnostics=json "$tmp/bad.tdl"
if [ "${PYTHON-}" ]; then
	"$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))["diagnostics"]
assert len(d) == 1 and d[0]["severity"] == "error" and d[0]["line"] == 1
' "$tmp/err" || fail "the diagnostics are not the JSON they should be"
fi
expect 1 "$TDLC" check --diagnostics=sarif "$tmp/bad.tdl"
if [ "${PYTHON-}" ]; then
	"$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
(run,) = d["runs"]
(result,) = run["results"]
(at,) = (x["physicalLocation"] for x in result["locations"])
assert d["version"] == "2.1.0" and result["level"] == "error"
assert result["ruleId"] in (r["id"] for r in run["tool"]["driver"]["rules"])
assert at["artifactLocation"]["uri"].startswith("file:///")
assert at["region"]["startLine"] == 1
' "$tmp/err" || fail "the diagnostics are not the SARIF they should be"
fi
(cd "$tmp" && cp good.tdl ./-good.tdl)
expect 0 sh -c 'cd "$1" && "$0" check -- -good.tdl' "$TDLC" "$tmp"
silent err

# ---- output that cannot be written ------------------------------------------

expect 4 "$TDLC" compile "$tmp/good.tdl" --emit=json -o "$tmp/none/x"
says "$tmp/none/x: No such file or directory"
expect 4 "$TDLC" compile "$tmp/good.tdl" --emit=json -o /dev/full
expect 4 sh -c '"$0" ops >/dev/full' "$TDLC"
expect 1 "$TDLC" compile "$tmp/bad.tdl" --emit=json -o "$tmp/x"
[ ! -e "$tmp/x" ] || fail "compile wrote in spite of an error"
echo before >"$tmp/x"
expect 1 "$TDLC" compile "$tmp/bad.tdl" --emit=json -o "$tmp/x" -MD -MF "$tmp/d"
[ "$(cat "$tmp/x")" = before ] || fail "compile overwrote in spite of an error"
[ ! -e "$tmp/d" ] || fail "compile wrote a depfile in spite of an error"

# ---- colours: on a terminal alone, and not with NO_COLOR --------------------

escape=$(printf '\033')
if command -v script >/dev/null; then
	on_terminal() {
		script -qec "env $1 '$TDLC' check '$tmp/bad.tdl'" /dev/null
	}
	on_terminal '-u NO_COLOR TERM=xterm' | grep -q "$escape" ||
		fail 'no colour on a terminal'
	on_terminal 'NO_COLOR=1 TERM=xterm' | grep -q "$escape" &&
		fail 'colour in spite of NO_COLOR'
	on_terminal '-u NO_COLOR TERM=dumb' | grep -q "$escape" &&
		fail 'colour on a dumb terminal'
fi
expect 1 env -u NO_COLOR TERM=xterm "$TDLC" check "$tmp/bad.tdl"
grep -q "$escape" "$tmp/err" && fail 'colour in a file'

finish
