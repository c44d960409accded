#!/bin/sh
# Tests: compiler/driver
# The documents show what the programs do.
#
# A block ```tdl is an operator library of its own, which `tdlc check` accepts,
# and in canonical layout.  With a name behind its language, ```tdl gate.tdl, a
# block is that file, for the commands that follow.  A block ```console shows
# commands, "$ tdlc ..", that go on in lines "> ..", and just what they print,
# both streams; times may differ.  All of a document's commands run in one
# folder, which has examples/, and see the status of the one before as $?.
#
#	docs.sh [FILE]...	those documents, by default all
#	GOLDEN_SAMPLE=N docs.sh	every Nth, from number SAMPLE_FROM on
#	UPDATE=1 docs.sh ..	shows in them what is printed now
srcdir=$(cd "${srcdir:-.}" && pwd)
. "$srcdir/tests/lib.sh"
update=${UPDATE-}
nchecked=0

tdlc() { "$TDLC" "$@"; }
tdlrun() { "$TDLRUN" "$@"; }
python() {
	PYTHONPATH=$(dirname "$TDLC")/python "$PYTHON" "$@"
}

# As in tests/mpi_lib.sh.
mpirun() {
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	OMPI_MCA_btl_base_warn_component_unused=0 \
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
	PATH=$(dirname "$TDLRUN"):$PATH \
	timeout 120 mpirun --oversubscribe "$@"
}

# Writes the blocks of a document: NNN.LANGUAGE, or NNN.LANGUAGE.file with a
# first line that is its name.
blocks() {
	awk -v to="$2/" '
		/^```/ && !inside {
			inside = 1
			file = to sprintf("%03d.", ++n) substr($1, 4)
			if (NF == 2) {
				file = file ".file"
				print $2 >file
			}
			printf "" >>file
			next
		}
		/^```$/ { inside = 0; close(file); next }
		inside { print >>file }' "$1"
}

# Runs the commands of a transcript in the present folder and prints it anew.
# It is no subshell for each: "$?" is the status of the command before.
transcript() {
	last=0
	command=
	sed -n '/^[$>] /p' "$1" >"$tmp/commands"
	echo '$ ' >>"$tmp/commands"
	while IFS= read -r line; do
		case $line in
		'$ '*)
			(exit "$last")
			eval "$command" </dev/null 2>&1
			last=$?
			command=${line#??} ;;
		*)
			command="$command
${line#??}" ;;
		esac
		[ -z "$command" ] || printf '%s\n' "$line"
	done <"$tmp/commands"
}

# The document with its consoles as they were printed: NNN.printed.
renewed() {
	awk -v from="$2/" '
		/^```/ && !inside {
			inside = 1
			file = from sprintf("%03d.printed", ++n)
			shows = $1 == "```console"
			print
			while (shows && (getline line <file) > 0)
				print line
			next
		}
		/^```$/ { inside = shows = 0 }
		!shows' "$1"
}

# Whether a block asks for more than there is: a document is left there.
lacks_python() {
	grep -q '^\$ python' "$1" || return 1
	modules=onnx,numpy
	! grep -q '^import torch' "$doc" || modules=$modules,onnxscript,torch
	! grep -q '^import tdl' "$doc" || modules=$modules,tdl
	[ "${SANITIZE-}" = yes ] && [ "$modules" != "${modules%tdl}" ] ||
		! python -c "import $modules" 2>/dev/null || return 1
	echo "$doc: without Python's $modules its later commands are not run"
}

lacks_mpi() {
	grep -q '^\$ mpirun' "$1" || return 1
	"$TDLRUN" --comm mpi none 2>&1 | grep -q 'not built in' ||
		! env mpirun --version >/dev/null 2>&1 || return 1
	echo "$doc: without Open MPI its later commands are not run"
}

# check_block FILE: FILE is a block in $parts; the folder is the document's.
check_block() {
	case $1 in
	*.file)
		name=$(head -n 1 "$parts/$1")
		tail -n +2 "$parts/$1" >"$name" ;;
	*.tdl)
		nchecked=$((nchecked + 1))
		tdlc check "$parts/$1" && tdlc fmt --check "$parts/$1" ||
			fail "$doc: block ${1%.*}" ;;
	*.console)
		[ "$runs" ] || return 0
		! lacks_python "$parts/$1" && ! lacks_mpi "$parts/$1" || {
			runs=
			return 0
		}
		nchecked=$((nchecked + 1))
		transcript "$parts/$1" >"$parts/${1%.*}.printed"
		compare "${1%.*}" ;;
	esac
}

# compare NNN: what a console shows with what was printed, but for times.
compare() {
	for side in console printed; do
		sed -E -e 's/ *[0-9][-+.0-9e]* (s|ms|µs)\b/ TIME/g' \
			-e 's/(seconds": )[0-9][-+.0-9e]*/\1TIME/' \
			"$parts/$1.$side" >"$tmp/$side"
	done
	if cmp -s "$tmp/console" "$tmp/printed"; then
		cp "$parts/$1.console" "$parts/$1.printed"
	elif [ -z "$update" ]; then
		diff -u --label "$doc" --label printed "$tmp/console" \
			"$tmp/printed"
		fail "$doc shows something else"
	fi
}

check_document() {
	doc=$1
	parts=$tmp/parts
	rm -rf "$parts" "$tmp/work"
	mkdir "$parts" "$tmp/work"
	ln -s "$srcdir/examples" "$tmp/work/examples"
	blocks "$doc" "$parts"
	runs=yes
	cd "$tmp/work" || exit 1
	for block in $(ls "$parts"); do
		check_block "$block"
	done
	cd "$srcdir" || exit 1
	[ -z "$update" ] || [ -z "$runs" ] || {
		renewed "$doc" "$parts" >"$tmp/new"
		cmp -s "$tmp/new" "$doc" || {
			cat "$tmp/new" >"$doc"
			echo "renewed $doc"
		}
	}
}

[ $# -gt 0 ] || {
	all=yes
	set -- "$srcdir"/docs/*.md "$srcdir"/README.md \
		"$srcdir"/CONTRIBUTING.md "$srcdir"/examples/tour/*.md
}
every=${all:+${GOLDEN_SAMPLE:-1}}
nth=${SAMPLE_FROM:-0}
for document; do
	nth=$((nth + 1))
	[ $((nth % ${every:-1})) -ne 0 ] || check_document "$document"
done

# Every function that TDL brings along is in the reference; every element type;
# every token of the grammar, and no rule of it is lost.
check_language() {
	language=$srcdir/docs/language.md
	sed -n 's/^\(SCALAR\|MAPPING\)(\([A-Za-z0-9_]*\),.*/\2/p' \
		"$srcdir/dsl/builtins.def" >"$tmp/names"
	sed -n 's/^FN([A-Z0-9_]*, "\([a-z0-9_]*\)", SCALAR,.*/\1/p' \
		"$srcdir/kernel/functions.def" >>"$tmp/names"
	sed -n 's/^\(REDUCER([A-Z]*, \|AVERAGE(\)"\([A-Za-z]*\)",.*/\2/p' \
		"$srcdir/kernel/reducers.def" >>"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -gt 90 ] || fail 'no names in the tables'
	sed -n 's/^.*\[DT_[A-Z0-9]*\] = { "\([a-z0-9]*\)".*/\1/p' \
		"$srcdir/base/dtype.c" >>"$tmp/names"
	while read -r name; do
		grep -q "\`$name[\`(]" "$language" ||
			fail "docs/language.md does not have '$name'"
	done <"$tmp/names"
	"${AWK:-awk}" -f "$srcdir/dsl/grammar.awk" "$srcdir/dsl/scan.l" \
		"$srcdir/dsl/gram.y" >"$tmp/grammar.md" || fail 'no grammar'
	sed -n "s/^\"\([^\" ]*\)\"[\t ].*/\1/p" "$srcdir/dsl/scan.l" |
	grep -vx '//*\|model\|grad' | sed 's/^\\\\$/\\/' >"$tmp/tokens"
	[ "$(wc -l <"$tmp/tokens")" -gt 40 ] || fail 'no tokens in scan.l'
	while read -r token; do
		grep -qF -- "\"$token\"" "$tmp/grammar.md" ||
			fail "the grammar has no '$token'"
	done <"$tmp/tokens"
}

# Every key that a command prints with --json is in json.md or descriptor.md.
check_json() {
	conv=$srcdir/examples/conv1d.tdl
	model=$srcdir/tests/golden/plan/matmul.onnx
	{
		tdlc explain conv1d "$conv" --json
		tdlc explain conv1d "$conv" -k 2 --json
		tdlc explain conv1d "$conv" -k 2 --json --shape data=2x3x8 \
			--shape filters=3x2x3
		tdlc explain softmax -k 2 --json --shape x=4x6
		tdlc explain embedding --json
		tdlc compile "$conv" --emit=json -o -
		tdlc doc "$conv" --json
		tdlc ops --json
		tdlc verify conv1d "$conv" --json
		tdlc coverage "$srcdir/tests/golden/coverage/mixed.onnx" --json
		tdlc show "$model" --json
		tdlc plan "$model" -k 2 -o "$tmp/plan" --json
		tdlc explain --plan "$tmp/plan" --tensor w --json
		tdlrun "$tmp/plan" --verify --json
		tdlc check --diagnostics=json "$tmp/none.tdl" 2>&1
	} >"$tmp/json"
	grep -o '"[a-z][a-z_]*": ' "$tmp/json" | sort -u >"$tmp/keys"
	[ "$(wc -l <"$tmp/keys")" -gt 80 ] || fail 'no JSON'
	cat "$srcdir/docs/json.md" "$srcdir/docs/descriptor.md" >"$tmp/said"
	while IFS='"' read -r _ key _; do
		grep -q "[\`\"]$key[\`\"]" "$tmp/said" ||
			fail "docs/json.md does not have the key '$key'"
	done <"$tmp/keys"
}

[ -z "${all-}" ] || {
	check_language
	check_json
	[ "$nchecked" -ge 15 ] || [ "$every" -gt 1 ] ||
		fail "only $nchecked blocks"
}
echo "$nchecked blocks checked"
finish
