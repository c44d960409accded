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
for stage in expand analysis gradient verify graph search lower codegen \
	export driver; do
	folders="$folders
compiler/$stage	$before"
	before="$before compiler/$stage"
done
folders="$folders
tests		$before runtime"

# HEADER: the files that may include it, as shell patterns.
fences='
jansson.h	base/json* base/diag.c plan/read* plan/write* \
		compiler/search/topology* compiler/driver/* runtime/* tests/*
check.h		tests/*
protobuf-c/*	compiler/graph/onnx* tests/fuzz/*
*.pb-c.h	compiler/graph/onnx* tests/fuzz/*
isl/*		tests/*
zip.h		runtime/* tests/*
zlib.h		plan/* runtime/* tests/*
dlfcn.h		runtime/* tests/*
'

# matches WORD PATTERN...
matches() {
	word=$1
	shift
	for pattern; do
		# shellcheck disable=SC2254
		case $word in $pattern) return 0 ;; esac
	done
	return 1
}

# folder_of PATH: the longest row of the table that is a prefix of it.
folder_of() {
	printf '%s\n' "$folders" | awk -v path="$1" '
		NF && index(path, $1 "/") == 1 && length($1) > n {
			n = length($1); best = $1 }
		END { print best }'
}

check_folder() {	# FILE FOLDER INCLUDED
	to=$(folder_of "$3")
	[ "$to" ] || return 0
	allowed=$(printf '%s\n' "$folders" |
		awk -v f="$2" '$1 == f { $1 = ""; print }')
	case " $allowed $2 include/tdl " in
	*" $to "*) ;;
	*)
		echo "$1 includes $3: $2 may include" \
			"${allowed:- nothing of ours} only"
		;;
	esac
}

# shellcheck disable=SC2162 # a \ joins two lines of the table
check_fence() {		# FILE INCLUDED
	printf '%s\n' "$fences" | while read header files; do
		[ "$header" ] || continue
		matches "$2" "$header" || continue
		set -f
		# shellcheck disable=SC2086
		matches "$1" $files ||
			echo "$1 includes $2: only $files may"
		set +f
		break
	done
}

# Prints one line per fault in the tree.
faults() {
	cd "$1"
	find base dsl plan compiler runtime include tests \
		-name '*.[chly]' -o -name '*.def' 2>/dev/null |
	LC_ALL=C sort |
	xargs awk '/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		match($0, /[<"][^>"]*/)
		print FILENAME, substr($0, RSTART + 1, RLENGTH - 1) }' |
	while read -r file included; do
		folder=$(folder_of "$file")
		check_fence "$file" "$included"
		case $included in
		tdl/*) included=include/$included ;;
		esac
		if [ -z "$folder" ]; then
			echo "$file is in no folder of the table"
		else
			check_folder "$file" "$folder" "$included"
		fi
	done
}

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
	plant compiler/driver/plan.c '"compiler/lower/lower.h"' 0
	plant runtime/cpu/a.c '"runtime/comm/comm.h"' 0
	plant runtime/cpu/a.c '"compiler/graph/graph.h"' 1
	plant runtime/cpu/a.c '  "tdl/kernel.h"' 0
	plant runtime/cpu/a.c '<check.h>' 1
	plant include/tdl/a.h '"base/arena.h"' 1
	plant compiler/misc/a.c '"base/arena.h"' 1
}

[ "${1-}" ] || self_test
[ "${1-}" != --test ] || { self_test; exit 0; }
found=$(faults "${1:-${srcdir:-.}}")
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
