#!/bin/sh
# shellcheck disable=SC2016
# The dependency rule: which folder may include which (docs: README.md), and
# which files alone may include an external library's headers.
#
#	layering.sh [TREE]	checks a source tree, by default $srcdir
#	layering.sh --test	checks that planted faults are found (also done
#				by a run without arguments)
set -eu

# Rows of FOLDER and the folders that its files may include; its own always.
folders='
base
dsl		base
plan		base
runtime		base plan
include/tdl
'
before='base dsl plan'
for stage in expand analysis gradient verify/reference verify graph search \
	lower placement codegen export driver; do
	may=$before
	# The judge of what the others make of a text shares nothing with them.
	[ "$stage" != verify/reference ] || may='base dsl'
	folders="$folders
compiler/$stage	$may"
	before="$before compiler/$stage"
done
folders="$folders
tests		$before runtime"

# HEADER: the files that may include it, as shell patterns.
fences='
jansson.h	base/json* base/diag.c plan/read* plan/write* \
		compiler/search/topology* compiler/placement/* \
		compiler/driver/* runtime/* tests/*
check.h		tests/*
protobuf-c/*	compiler/graph/onnx* tests/fuzz/*
*.pb-c.h	compiler/graph/onnx* tests/fuzz/*
isl/*		tests/*
zip.h		runtime/* tests/*
zlib.h		plan/* runtime/* tests/*
dlfcn.h		runtime/* tests/*
mpi.h		runtime/comm/mpi.c runtime/comm/beat.c
cuda.h		runtime/cuda/api.h tests/cuda/*
nvrtc.h		runtime/cuda/api.h tests/cuda/*
cublasLt.h	runtime/cuda/cublaslt.c tests/cuda/*
cudnn.h		runtime/cuda/cudnn.c tests/cuda/*
nccl.h		runtime/cuda/nccl.c tests/cuda/*
'

# Prints one line per fault in the tree.
faults() {
	cd "$1"
	find base dsl plan compiler runtime include tests \
		-name '*.[chly]' -o -name '*.def' 2>/dev/null |
	LC_ALL=C sort |
	xargs awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		match($0, /[<"][^>"]*/)
		print FILENAME, substr($0, RSTART + 1, RLENGTH - 1) }' |
	FOLDERS=$folders FENCES=$fences awk "$rules"
}

# Lines of FILE INCLUDED to faults.
rules='
# A shell pattern as a regular expression.
function expression(glob) {
	gsub(/\./, "[.]", glob)
	gsub(/\*/, ".*", glob)
	return "^" glob "$"
}

# The rows of a table: their first words in keys, the others in others.
function read_table(text, keys, others,	lines, words, n, i, nkeys) {
	gsub(/\\\n/, " ", text)
	n = split(text, lines, "\n")
	for (i = 1; i <= n; i++) {
		if (split(lines[i], words, " ") == 0)
			continue
		keys[++nkeys] = words[1]
		sub(/^[ \t]*[^ \t]+[ \t]*/, "", lines[i])
		gsub(/[ \t]+/, " ", lines[i])
		others[nkeys] = lines[i]
	}
	return nkeys
}

# The row of the longest folder that a path begins with; 0.
function folder_of(path,	i, best) {
	for (i = 1; i <= nfolders; i++)
		if (index(path, folder[i] "/") == 1 && \
		    length(folder[i]) > length(folder[best]))
			best = i
	return best + 0
}

function check_fence(file, included,	i, n, j, patterns) {
	for (i = 1; i <= nfences; i++)
		if (included ~ expression(header[i]))
			break
	if (i > nfences)
		return
	n = split(users[i], patterns, " ")
	for (j = 1; j <= n; j++)
		if (file ~ expression(patterns[j]))
			return
	print file " includes " included ": only " users[i] " may"
}

function check_folder(file, from, included,	to, all) {
	to = folder_of(included)
	all = " " allowed[from] " " folder[from] " include/tdl "
	if (to == 0 || index(all, " " folder[to] " "))
		return
	print file " includes " included ": " folder[from] " may include " \
		(allowed[from] ? allowed[from] : "nothing of ours") " only"
}

BEGIN {
	nfolders = read_table(ENVIRON["FOLDERS"], folder, allowed)
	nfences = read_table(ENVIRON["FENCES"], header, users)
}

{
	check_fence($1, $2)
	from = folder_of($1)
	if (from == 0)
		print $1 " is in no folder of the table"
	else
		check_folder($1, from, $2 ~ /^tdl\// ? "include/" $2 : $2)
}'

# plant FILE INCLUDE WANT: a tree with this one line has WANT faults.
plant() {
	tree=$(mktemp -d)
	mkdir -p "$tree/$(dirname "$1")"
	echo "#include $2" >"$tree/$1"
	found=$(cd "$tree" && faults . | wc -l)
	rm -r "$tree"
	[ "$found" -eq "$3" ] ||
		{ echo "self-test: $1 with $2: $found faults, not $3"; exit 1; }
}

self_test() {
	plant base/a.c '"base/b.h"' 0
	plant base/a.c '"dsl/ast.h"' 1
	plant base/a.c '<jansson.h>' 1
	plant base/json_read.c '<jansson.h>' 0
	plant dsl/gram.y '"plan/kernel.h"' 1
	plant plan/a.h '"base/b.h"' 0
	plant plan/a.h '"dsl/ast.h"' 1
	plant compiler/graph/a.c '"compiler/expand/expand.h"' 0
	plant compiler/graph/a.c '"compiler/search/search.h"' 1
	plant compiler/graph/onnx_read.c '<protobuf-c/protobuf-c.h>' 0
	plant compiler/graph/fold.c '<protobuf-c/protobuf-c.h>' 1
	plant compiler/graph/fold.c '"compiler/graph/onnx.pb-c.h"' 1
	plant compiler/verify/reference/a.c '"dsl/ast.h"' 0
	plant compiler/verify/reference/a.c '"plan/scalar.h"' 1
	plant compiler/verify/reference/a.c '"compiler/expand/expand.h"' 1
	plant compiler/verify/agree.c '"compiler/verify/reference/a.h"' 0
	plant compiler/driver/plan.c '"compiler/lower/lower.h"' 0
	plant runtime/cpu/a.c '"runtime/comm/comm.h"' 0
	plant runtime/cpu/a.c '"compiler/graph/graph.h"' 1
	plant runtime/cpu/a.c '  "tdl/kernel.h"' 0
	plant runtime/cpu/a.c '<check.h>' 1
	plant runtime/cuda/api.h '<cuda.h>' 0
	plant runtime/machine.c '<cuda.h>' 1
	plant runtime/cuda/local.c '<nccl.h>' 1
	plant runtime/comm/threads.c '<mpi.h>' 1
	plant include/tdl/a.h '"base/arena.h"' 1
	plant compiler/misc/a.c '"base/arena.h"' 1
}

[ "${1-}" ] || self_test
[ "${1-}" != --test ] || { self_test; exit 0; }
found=$(faults "${1:-${srcdir:-.}}")
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
