#!/bin/sh
# Tests: base
# shellcheck disable=SC2016
# The dependency rule: which folder may include which (docs: README.md), and
# which files alone may include an external library's headers; and who may ask
# for a function, a reducer, an element type, an attribute or a planner by its
# name: dsl, which binds the tree to the tables, what reads a file or an option,
# and the judge, which shares nothing with them.
#
#	layering.sh [TREE]	checks a source tree, by default $srcdir
#	layering.sh --test	checks that planted faults are found (also done
#				by a run without arguments)
set -eu

# Rows of FOLDER and the folders that its files may include; its own, and
# include/tdl, always.  No row allows what another one in it does.
folders='base
dsl		base kernel
kernel		base
layout		base kernel
plan		base kernel layout
compiler/expand	base dsl kernel
compiler/analysis	base dsl kernel compiler/expand
compiler/gradient	base dsl kernel
compiler/graph	base kernel compiler/expand
compiler/train	base dsl kernel compiler/graph compiler/gradient
compiler/model	base dsl kernel compiler/graph compiler/train
compiler/onnx	base kernel compiler/graph compiler/train compiler/model
compiler/solver	base
compiler/cost	base kernel layout plan compiler/graph compiler/analysis \
		compiler/solver
compiler/planners	base kernel layout compiler/graph compiler/analysis \
		compiler/cost compiler/solver
compiler/lower	base kernel layout plan compiler/graph compiler/cost
compiler/simulate	base kernel layout plan compiler/cost
compiler/portfolio	base kernel layout plan compiler/graph compiler/cost \
		compiler/planners compiler/lower compiler/simulate
compiler/placement	base kernel layout plan compiler/graph compiler/cost \
		compiler/solver compiler/planners compiler/lower
compiler/codegen	base kernel plan
compiler/verify/reference	base dsl
compiler/verify	base dsl kernel compiler/expand compiler/analysis \
		compiler/gradient compiler/verify/reference
compiler/export	base kernel layout plan compiler/expand compiler/analysis \
		compiler/codegen
runtime/exec	base kernel layout plan
runtime/cpu	base kernel layout plan runtime/exec
runtime/cuda	base kernel layout plan runtime/exec
runtime/comm	base kernel layout plan runtime/exec
runtime/run	base kernel layout plan runtime/exec
include/tdl
'
# The library, the folder of tdlc's main(), and the tests, may include all of
# these.
compiler=$(printf '%s' "$folders" | tr -s ' \n\t' '\n\n\n' |
	grep -v -e '[\\]' -e '^runtime' | sort -u | tr '\n' ' ')
folders="$folders
libtdl		$compiler runtime/exec runtime/cpu runtime/comm
compiler/driver	base
tests		$compiler compiler/driver libtdl runtime/exec runtime/cpu \\
		runtime/cuda runtime/comm runtime/run"

# HEADER: the files that may include it, as shell patterns.
fences='
jansson.h	base/json* compiler/placement/* runtime/* tests/*
check.h		tests/*
protobuf-c/*	compiler/onnx/* tests/fuzz/*
*.pb-c.h	compiler/onnx/* tests/fuzz/*
isl/*		tests/*
hwloc.h		runtime/run/machine_levels.c
zip.h		runtime/* tests/*
zlib.h		plan/* runtime/* tests/*
dlfcn.h		runtime/* libtdl/* tests/*
mpi.h		runtime/comm/mpi*
dnnl.h		runtime/cpu/onednn* tests/*
cuda.h		runtime/cuda/api.h tests/cuda/*
nvrtc.h		runtime/cuda/api.h tests/cuda/*
cublasLt.h	runtime/cuda/cublaslt.c tests/cuda/*
cudnn.h		runtime/cuda/cudnn.c tests/cuda/*
nccl.h		runtime/cuda/nccl_api.h tests/cuda/*
'

# FUNCTION: the files that may call it, as shell patterns.
lookups='
builtin_find	dsl/* compiler/verify/reference/* tests/*
fn_parse	kernel/functions.* plan/read_kernel.c tests/*
reducer_parse	kernel/reducers.* plan/read_kernel.c tests/*
dtype_parse	base/dtype.* dsl/* plan/read.c plan/profile_read.c \
		compiler/verify/reference/* \
		compiler/cost/topology_read.c libtdl/explain_input.c \
		libtdl/run.c compiler/model/model.c compiler/train/train.c \
		compiler/train/train_option.c tests/*
ast_find_attr	dsl/* compiler/model/* compiler/train/optimizer.c \
		compiler/train/train_option.c libtdl/explain_input.c \
		compiler/verify/dim_map.c compiler/verify/reference/* tests/*
compare		base/dtype.* dsl/* kernel/functions.* kernel/reducers.* \
		plan/read_kernel.c compiler/verify/reference/* tests/* \
		compiler/train/recompute.c
'
# Those that are compared with a text: of functions of lambdas, reducers, types,
# planners.
names=$(cd "${srcdir:-.}" && {
	sed -n 's/^FN([A-Z0-9_]*, "\([a-z0-9_]*\)",.*/\1/p' \
		kernel/functions.def
	sed -n 's/^\(REDUCER([A-Z]*, \|AVERAGE(\)"\([A-Za-z]*\)",.*/\2/p' \
		kernel/reducers.def
	sed -n 's/^SCALAR(\([a-z]*\),.*/\1/p' dsl/builtins.def
	sed -n 's/^.*\[DT_[A-Z0-9]*\] = { "\([a-z0-9]*\)".*/\1/p' base/dtype.c
	echo unravel int float
	sed -n 's/^\t[.]name = "\([a-z-]*\)",.*/\1/p' compiler/planners/*.c
} | tr '\n' ' ')

# Prints a line "FILE name NAME" per call of a look-up, and "FILE compare NAME"
# per comparison of a text with one of the names.
asked_names() {
	find base dsl kernel layout plan compiler runtime libtdl tests \
		-name '*.[chly]' 2>/dev/null |
	LC_ALL=C sort |
	NAMES=$names xargs awk '
	BEGIN {
		RS = ";"
		n = split(ENVIRON["NAMES"], list, " ")
		for (i = 1; i <= n; i++)
			known[list[i]] = 1
		call = "[^\"()]*([(][^\"()]*[)][^\"()]*)*\"[^\"]*\""
	}
	{
		for (s = $0; match(s, /[a-z]+_(find|parse)(_[a-z]+)?[(]/); ) {
			print FILENAME, substr(s, RSTART, RLENGTH - 1), "x"
			s = substr(s, RSTART + RLENGTH)
		}
		for (s = $0; match(s, "str(case)?cmp[(]" call); ) {
			word = substr(s, RSTART, RLENGTH - 1)
			sub(/.*"/, "", word)
			if (word in known)
				print FILENAME, "compare", word
			s = substr(s, RSTART + RLENGTH)
		}
	}' /dev/null
}

# Prints one line per fault in the tree.
faults() {
	cd "$1"
	asked_names | LOOKUPS=$lookups awk "$table$name_rules"
	find base dsl kernel layout plan compiler runtime libtdl include tests \
		-name '*.[chly]' -o -name '*.def' 2>/dev/null |
	LC_ALL=C sort |
	xargs awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		match($0, /[<"][^>"]*/)
		print FILENAME, substr($0, RSTART + 1, RLENGTH - 1) }' |
	FOLDERS=$folders FENCES=$fences awk "$table$rules"
}

table='
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

'

# Lines of FILE LOOKUP NAME to faults.
name_rules='
BEGIN {
	n = read_table(ENVIRON["LOOKUPS"], lookup, users)
}

{
	for (i = 1; i <= n && lookup[i] != $2; i++)
		;
	if (i > n)
		next
	m = split(users[i], patterns, " ")
	for (j = 1; j <= m; j++)
		if ($1 ~ expression(patterns[j]))
			next
	print $1 ($2 == "compare" ? " compares the name " $3 \
		: " calls " $2 "()") ": only " users[i] " may"
}'

# Lines of FILE INCLUDED to faults.
rules='
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
	if (to == 0 && included !~ /^(compiler|runtime|libtdl)\//)
		return
	if (to && index(all, " " folder[to] " "))
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
	plant_text "$1" "#include $2" "$3"
}

# The same with a text.
plant_text() {
	tree=$(mktemp -d)
	mkdir -p "$tree/$(dirname "$1")"
	echo "$2" >"$tree/$1"
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
	plant dsl/gram.y '"plan/plan.h"' 1
	plant kernel/a.h '"base/b.h"' 0
	plant kernel/a.h '"layout/mesh.h"' 1
	plant kernel/a.h '"plan/plan.h"' 1
	plant layout/a.h '"kernel/region.h"' 0
	plant layout/a.h '"plan/plan.h"' 1
	plant plan/a.h '"layout/mesh.h"' 0
	plant plan/a.h '"dsl/ast.h"' 1
	plant compiler/graph/a.c '"compiler/expand/expand.h"' 0
	plant compiler/graph/a.c '"compiler/train/train.h"' 1
	plant compiler/graph/a.c '"compiler/planners/search.h"' 1
	plant compiler/train/a.c '"compiler/gradient/gradient.h"' 0
	plant compiler/train/a.c '"compiler/model/eval.h"' 1
	plant compiler/model/a.c '"compiler/onnx/onnx.h"' 1
	plant compiler/onnx/onnx_file.c '<protobuf-c/protobuf-c.h>' 0
	plant compiler/graph/fold.c '<protobuf-c/protobuf-c.h>' 1
	plant compiler/graph/fold.c '"compiler/onnx/onnx.pb-c.h"' 2
	plant compiler/solver/a.c '"compiler/graph/graph.h"' 1
	plant compiler/cost/a.c '"compiler/solver/problem.h"' 0
	plant compiler/cost/a.c '"compiler/planners/planner.h"' 1
	plant compiler/planners/a.c '"compiler/lower/lower.h"' 1
	plant compiler/lower/a.c '"compiler/planners/search.h"' 1
	plant compiler/simulate/a.c '"compiler/cost/topology.h"' 0
	plant compiler/simulate/a.c '"compiler/lower/cost.h"' 1
	plant compiler/portfolio/a.c '"compiler/lower/lower.h"' 0
	plant compiler/portfolio/a.c '"compiler/simulate/simulate.h"' 0
	plant compiler/portfolio/a.c '"compiler/solver/problem.h"' 1
	plant compiler/portfolio/a.c '"compiler/driver/page.h"' 1
	plant compiler/portfolio/a.c '<jansson.h>' 1
	plant compiler/planners/a.c '"compiler/portfolio/auto.h"' 1
	plant compiler/codegen/a.c '"plan/plan.h"' 0
	plant compiler/codegen/a.c '"compiler/graph/graph.h"' 1
	plant compiler/verify/reference/a.c '"dsl/ast.h"' 0
	plant compiler/verify/reference/a.c '"kernel/scalar.h"' 1
	plant compiler/verify/reference/a.c '"compiler/expand/expand.h"' 1
	plant compiler/verify/agree.c '"compiler/verify/reference/a.h"' 0
	plant compiler/verify/agree.c '"compiler/graph/graph.h"' 1
	plant compiler/driver/plan.c '"compiler/lower/lower.h"' 1
	plant compiler/driver/plan.c '"compiler/graph/graph.h"' 1
	plant compiler/driver/plan.c '"runtime/exec/backend.h"' 1
	plant compiler/export/a.c '"compiler/driver/page.h"' 1
	plant runtime/cpu/a.c '"runtime/exec/backend.h"' 0
	plant runtime/exec/a.c '"runtime/comm/barrier.h"' 1
	plant runtime/comm/a.c '"runtime/run/session.h"' 1
	plant runtime/cpu/a.c '"compiler/graph/graph.h"' 1
	plant runtime/a.c '"base/arena.h"' 1
	plant runtime/cpu/a.c '  "tdl/kernel.h"' 0
	plant runtime/cpu/a.c '<check.h>' 1
	plant runtime/cuda/api.h '<cuda.h>' 0
	plant runtime/exec/executor.c '<cuda.h>' 1
	plant runtime/cuda/local.c '<nccl.h>' 1
	plant runtime/comm/threads.c '<mpi.h>' 1
	plant include/tdl/a.h '"base/arena.h"' 1
	plant libtdl/a.c '"compiler/portfolio/auto.h"' 0
	plant libtdl/a.c '"runtime/exec/executor.h"' 0
	plant libtdl/a.c '"compiler/driver/page.h"' 1
	plant libtdl/a.c '"runtime/run/session.h"' 1
	plant compiler/export/a.c '"libtdl/job.h"' 1
	plant compiler/driver/a.c '"libtdl/job.h"' 1
	plant compiler/driver/a.c '<jansson.h>' 1
	plant compiler/misc/a.c '"base/arena.h"' 1
	plant compiler/planners/a.c '"compiler/misc/a.h"' 1
	plant_text compiler/graph/a.c 'if (!strcmp(e->name, "Sum"))' 1
	plant_text compiler/graph/a.c 'x = strcmp(name(e),
		"i64") || !strcmp(f(g(1), 2), "max");' 1
	plant_text compiler/graph/a.c 'x = strcmp(s, "loss") ? "Sum" : "max";' 0
	plant_text compiler/graph/a.c 'strcmp(s, t); say("Mean");' 0
	plant_text compiler/expand/a.c 't = dtype_parse(e->name);' 1
	plant_text compiler/train/train_option.c 't = dtype_parse(text);' 0
	plant_text compiler/gradient/a.c 'fn_parse(n); reducer_parse(n);' 2
	plant_text compiler/expand/a.c 'i = ast_find_attr(a, n, name);' 1
	plant_text compiler/portfolio/a.c 'if (!strcmp(by, "levels"))' 1
	plant_text dsl/a.c 'builtin_find(k, n); strcmp(n, "int");' 0
	plant_text compiler/verify/reference/a.c 'strcmp(n, "Mean");' 0
	plant_text compiler/verify/a.c 'strcmp(n, "Mean");' 1
}

[ "${1-}" ] || self_test
[ "${1-}" != --test ] || { self_test; exit 0; }
found=$(faults "${1:-${srcdir:-.}}")
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
