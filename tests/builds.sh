#!/bin/bash
# Tests: share
# The project in examples/builds, built as docs/building.md says by Make,
# Automake, CMake and Meson with an installed tdlc: the program runs, nothing
# is made a second time, and the header is made again when an imported file
# changes.
. "${srcdir:-.}/tests/lib.sh"
unset TDL_OPDEFS
examples=$(cd "${srcdir:-.}" && pwd)/examples
if [ "${SANITIZE-}" = yes ]; then
	skip 'compilers of other builds link no sanitizers'
fi

inst=$tmp/inst
"${MAKE:-make}" -s install prefix="$inst" >"$tmp/log" 2>&1 || {
	tail "$tmp/log"
	fail 'make install'
	finish
}
# It was configured for another prefix.
mkdir "$tmp/bin"
printf '#!/bin/sh\nexec "%s" --define-prefix "$@"\n' \
	"$(command -v pkg-config)" >"$tmp/bin/pkg-config"
chmod +x "$tmp/bin/pkg-config"
export PATH=$tmp/bin:$inst/bin:$PATH PKG_CONFIG_PATH=$inst/lib/pkgconfig
export LD_LIBRARY_PATH=$inst/lib ACLOCAL_PATH=$inst/share/aclocal
unset MAKEFLAGS MAKELEVEL

# copied NAME: a copy of the project, which becomes the current folder.
copied() {
	cp -r "$examples/builds" "$tmp/$1" && cd "$tmp/$1" || exit 1
}

# builds SOURCES COMMAND...: the command makes program and net.h here.
builds() {
	sources=$1
	shift
	expect 0 "$@"
	expect 0 ./program
	prints '^four$'
	prints '^libtdl [0-9]'
	first=$(stat -c %y net.h)
	expect 0 "$@"
	[ "$(stat -c %y net.h)" = "$first" ] ||
		fail "$*: net.h made again without a change"
	touch "$sources/parts/twice.tdl"
	expect 0 "$@"
	[ "$(stat -c %y net.h)" != "$first" ] ||
		fail "$*: net.h not made again after a change"
}

copied make
builds . make

if command -v autoreconf >/dev/null; then
	copied automake
	expect 0 autoreconf -i
	mkdir out && cd out || exit 1
	expect 0 ../configure -q
	builds .. make
	expect 0 make -s distcheck
	sed -i 's/TDLC(\[0.1\])/TDLC([99.0])/' ../configure.ac
	expect 0 autoreconf -i ..
	expect 1 ../configure -q
	says '99.0 or later'
fi

if command -v meson >/dev/null; then
	copied meson
	expect 0 meson setup out
	cd out || exit 1
	builds .. ninja
fi

# Installed files can be moved.
mv "$inst" "$tmp/moved"
inst=$tmp/moved
export PATH=$inst/bin:$PATH LD_LIBRARY_PATH=$inst/lib
unset PKG_CONFIG_PATH

if command -v cmake >/dev/null; then
	copied cmake
	expect 0 cmake -B out -DCMAKE_PREFIX_PATH="$inst"
	cd out || exit 1
	builds .. cmake --build .
	sed -i 's/Tdl 0.1/Tdl 0.2/' ../CMakeLists.txt
	expect 1 cmake .. -B other -DCMAKE_PREFIX_PATH="$inst"
	# JSON, the library's folder of operators, and a program of the library.
	copied cmake-more
	cp "$examples/embed/embed.c" .
	cat >>CMakeLists.txt <<'END'
tdl_compile(OUTPUT net.json SOURCES net.tdl INCLUDE parts)
add_custom_target(net ALL DEPENDS net.json)
add_executable(embed embed.c)
target_link_libraries(embed PRIVATE tdl::tdl)
if(NOT IS_DIRECTORY "${TDL_OPDEFS}/onnx")
	message(FATAL_ERROR "TDL_OPDEFS is ${TDL_OPDEFS}")
endif()
END
	expect 0 cmake -B out -DCMAKE_PREFIX_PATH="$inst"
	expect 0 cmake --build out
	grep -q '"four"' out/net.json || fail 'net.json has no operator'
	expect 0 out/embed 2
fi

finish
