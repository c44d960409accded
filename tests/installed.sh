#!/bin/bash
# Tests: compiler/driver runtime/run
# The files that `make install' puts in place are used as users would: the
# programs (moved elsewhere, too), pkg-config, completion, editors.
. "${srcdir:-.}/tests/lib.sh"
unset TDL_OPDEFS
conv=$(cd "${srcdir:-.}" && pwd)/examples/conv1d.tdl

"${MAKE:-make}" -s install prefix="$tmp/first" >"$tmp/log" 2>&1 || {
	tail "$tmp/log"
	fail 'make install'
	finish
}
mv "$tmp/first" "$tmp/inst"	# what is installed can be moved
inst=$tmp/inst
PATH=$inst/bin:$PATH

# ---- programs ---------------------------------------------------------------

expect 0 "$inst/bin/tdlrun" --version
expect 0 "$inst/bin/tdlc" ops
prints '^matmul'
expect 0 "$inst/bin/tdlc" explain conv1d "$conv" -k 2
mkdir "$tmp/links"
ln -s "$inst/bin/tdlc" "$tmp/links/tdlc"
expect 0 "$tmp/links/tdlc" ops
prints '^matmul'
for page in tdlc tdlrun $("$inst/bin/tdlc" --help |
	sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/tdlc-\1/p'); do
	[ "${MANUALS-}" = no ] || grep -q '^\.SH SYNOPSIS' \
		"$inst/share/man/man1/$page.1" || fail "no manual page $page"
done

# ---- documents: written and made --------------------------------------------

docs=$inst/share/doc/tdlc
for doc in language adding-an-operator grammar library; do
	[ -s "$docs/$doc.md" ] || fail "no $doc.md"
done
cmp -s "${srcdir:-.}/LICENSE" "$docs/LICENSE" || fail 'no license'
[ -s "$docs/examples/tour/operator.md" ] || fail 'no tour'
grep -q '^definition = "op" ' "$docs/grammar.md" || fail 'grammar.md'
grep -q '^### matmul$' "$docs/library.md" || fail 'library.md'
grep -q '<h3 id="matmul">' "$docs/library.html" || fail 'library.html'

# ---- pkg-config, the headers ------------------------------------------------

export PKG_CONFIG_PATH=$inst/lib/pkgconfig
expect 0 pkg-config --define-prefix --modversion tdl
expect 0 "$(pkg-config --define-prefix --variable=tdlc tdl)" --version
[ -d "$(pkg-config --define-prefix --variable=opdefs tdl)/onnx" ] ||
	fail 'pkg-config: opdefs'
echo '#include <tdl/kernel.h>' >"$tmp/header.c"
# shellcheck disable=SC2046,SC2086
expect 0 ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only \
	$(pkg-config --define-prefix --cflags tdl) "$tmp/header.c"

# ---- the library ------------------------------------------------------------

# embedded NAME COMMAND...: makes $tmp/NAME, which plans, prints and runs.
embedded() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086
	expect 0 "$@" -Wall -Wextra -Werror "$tmp/embed.c" -x none \
		-o "$tmp/$name" $(pkg-config --define-prefix --cflags tdl) \
		$libs $sanitized
	expect 0 env LD_LIBRARY_PATH="$inst/lib" "$tmp/$name" 4
	prints '"cuts"'
	prints '^y\[0\] is '
	cp "$tmp/out" "$tmp/$name.out"
}
sanitized=
[ "${SANITIZE-}" != yes ] || sanitized='-fsanitize=address,undefined'
cp "${srcdir:-.}/examples/embed/embed.c" "$tmp"
libs=$(pkg-config --define-prefix --libs tdl)
# shellcheck disable=SC2086
embedded in_c ${CC:-cc} -std=c99
if command -v c++ >/dev/null && [ ! "$sanitized" ]; then
	embedded in_cpp c++ -std=c++11 -x c++
	cmp "$tmp/in_c.out" "$tmp/in_cpp.out" || fail 'C++ is not as C'
fi
libs=$(pkg-config --define-prefix --static --libs tdl)
libs="$inst/lib/libtdl.a $(echo "$libs" | sed 's/-ltdl//')"
# Nothing says where a program that has it all inside is installed.
TDL_OPDEFS=$inst/share/tdlc/opdefs
export TDL_OPDEFS
# shellcheck disable=SC2086
embedded in_static ${CC:-cc}
cmp "$tmp/in_c.out" "$tmp/in_static.out" || fail 'static is not as shared'
unset TDL_OPDEFS

# ---- completion -------------------------------------------------------------

# completes "WORDS" WANT: the last word is the one to be completed.
completes() {
	got=$(
		. "$inst/share/bash-completion/completions/tdlc"
		read -r -a COMP_WORDS <<<"$1"
		[[ $1 != *' ' ]] || COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMPREPLY=()
		"_${COMP_WORDS[0]}" "${COMP_WORDS[0]}"
		echo "${COMPREPLY[*]}"
	)
	[[ " $got " == *" $2 "* ]] || fail "completion of '$1': '$got', not $2"
}
completes 'tdlc pl' plan
completes 'tdlc help sh' show
completes 'tdlc --ver' --version
completes 'tdlc plan --algo' --algorithm
completes 'tdlc compile -M' -MF
completes 'tdlc explain matm' matmul
completes 'tdlrun --ver' --verify
completes 'tdlrun --tf' --tf32
completes 'tdlc plan --algorithm jo' joint
completes 'tdlc plan --topology = 8xh' 8xh100-nvlink
completes 'tdlc plan m.tdl --schedule=g' --schedule=gpipe
completes 'tdlc place --algorithm ' heft
completes 'tdlc explain --format ' shardy
completes 'tdlrun p --comm m' mpi

# The same of zsh, whose own functions print here what they would offer.  Leaks
# are not looked for: that stops a process, and zsh goes on with its jobs that
# stop, so that both would wait for ever.
completes_zsh() {
	got=$(ASAN_OPTIONS=${ASAN_OPTIONS+$ASAN_OPTIONS:}detect_leaks=0 \
		zsh -f -c '
		compadd() { print -r -- ${(P)2} }
		compset() { : }
		_files() { : }
		words=(${=1})
		[[ $1 == *" " ]] && words+=("")
		CURRENT=$#words
		. "$0"' "$inst/share/zsh/site-functions/_tdlc" "$1")
	[[ " $got " == *" $2 "* ]] || fail "zsh, '$1': '$got', not $2"
}
grep -qx '#compdef tdlc tdlrun' "$inst/share/zsh/site-functions/_tdlc" ||
	fail 'zsh does not know what it completes'
if command -v zsh >/dev/null; then
	completes_zsh 'tdlc pl' plan
	completes_zsh 'tdlc help sh' show
	completes_zsh 'tdlc --ver' --version
	completes_zsh 'tdlc plan --algo' --algorithm
	completes_zsh 'tdlc explain matm' matmul
	completes_zsh 'tdlrun --ver' --verify
	completes_zsh 'tdlrun --tf' --tf32
	completes_zsh 'tdlc plan --algorithm jo' joint
	completes_zsh 'tdlc plan m.tdl --schedule=g' gpipe
	completes_zsh 'tdlc compare --algorithm ' heft
	completes_zsh 'tdlrun p --comm m' mpi
fi

# ---- editors ----------------------------------------------------------------

if command -v vim >/dev/null && vim --version | grep -q '+syntax'; then
	cat >"$tmp/groups.vim" <<'END'
filetype on
syntax on
edit $CONV
let found = []
for text in ['\/\/\/', 'op', 'lambda', 'Sum', '+ \zs1']
	call cursor(1, 1)
	call search(text, 'c')
	call add(found, synIDattr(synID(line('.'), col('.'), 1), 'name'))
endfor
call writefile([join(found)], $FOUND)
qall!
END
	CONV=$conv FOUND=$tmp/found vim -es -u NONE \
		--cmd "set nocompatible rtp^=$inst/share/vim/vimfiles" \
		-S "$tmp/groups.vim" </dev/null >/dev/null 2>&1
	want='tdlDoc tdlDefinition tdlKeyword tdlReducer tdlNumber'
	[ "$(cat "$tmp/found" 2>/dev/null)" = "$want" ] ||
		fail "vim: $(cat "$tmp/found" 2>/dev/null), not $want"
fi

if [ "${PYTHON-}" ]; then
	"$PYTHON" - "$inst/share/tdlc/vscode" "$conv" <<'END' || fail 'vscode'
import json, os, re, sys
folder, conv = sys.argv[1:]
def load(name):
    with open(os.path.join(folder, name)) as f:
        return json.load(f)
package = load("package.json")["contributes"]
load(package["languages"][0]["configuration"])
grammar = load(package["grammars"][0]["path"])
text = open(conv).read()
found = set()
for p in grammar["patterns"]:
    if re.search(p.get("match") or p["begin"], text, re.M):
        found.add(p["name"] if "name" in p else p["captures"]["2"]["name"])
need = {"comment.line.documentation.tdl", "entity.name.function.tdl",
        "storage.type.tdl", "keyword.control.tdl", "constant.numeric.tdl",
        "support.function.reducer.tdl"}
sys.exit(0 if need <= found else f"{need - found} not found")
END
fi

finish
