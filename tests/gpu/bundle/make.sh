#!/bin/sh
# Makes the archive of `make gpu-bundle', in the build folder:
#
#	make.sh NAME VERSION	NAME.tar.gz, of a folder NAME
#
# $srcdir is the source tree.
set -eu

name=$1 version=$2
top=$(cd "${srcdir:-.}" && pwd)
own=$top/tests/gpu/bundle

rm -rf "$name" "$name.tar.gz"
mkdir -p "$name/bin" "$name/lib" "$name/libc" "$name/tests" "$name/bench" \
	"$name/examples"

# ---- programs --------------------------------------------------------------

cp tdlc tdlrun tests/gpu/bundle/point tests/gpu/bundle/probe tests/gpu/near \
	"$name/bin/"
for program in kernels operators; do
	[ ! -x "tests/gpu/$program" ] ||
		cp "tests/gpu/$program" "$name/bin/"
done

# libraries FILE..: a line NAME PATH for each library; the loader's NAME is a
# path.
libraries() {
	ldd "$@" | sed -n 's/^[ \t]*\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p
		s/^[ \t]*\(\/[^ ]*\) (.*/\1 \1/p' | sort -u
}
libraries "$name"/bin/[!p]* "$name/bin/probe" >"$name/libraries"
if ldd "$name"/bin/[!p]* "$name/bin/probe" | grep 'not found'; then
	exit 1
fi
loader=
while read -r library path; do
	case $library in
	/*/ld-* | /*/ld64*)
		loader=$library
		cp -L "$path" "$name/libc/ld.so" ;;
	libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | \
		libmvec.so.* | libresolv.so.* | libutil.so.*)
		cp -L "$path" "$name/libc/$library" ;;
	*)
		cp -L "$path" "$name/lib/$library" ;;
	esac
done <"$name/libraries"
[ -n "$loader" ] || { echo "make.sh: ldd names no loader" >&2; exit 1; }
# CUDA's libraries are linked with these, which today are part of the C library.
folder=$(dirname "$(sed -n 's/^libc\.so[^ ]* //p' "$name/libraries")")
for library in libdl.so.2 libpthread.so.0 librt.so.1; do
	[ ! -f "$folder/$library" ] ||
		cp -L "$folder/$library" "$name/libc/$library"
done
rm "$name/libraries"

start() {
	sed "s|LOADER|$loader|" "$own/start" >"$1"
	chmod +x "$1"
}
start "$name/tdlc"
start "$name/tdlrun"
for program in near probe kernels operators; do
	[ ! -f "$name/bin/$program" ] || start "$name/tests/$program"
done

# ---- files that the programs read -------------------------------------------

sed "s/VERSION/$version/" "$own/run-gpu" >"$name/run-gpu"
chmod +x "$name/run-gpu"
cp -R "$top/opdefs" "$top/LICENSE" "$top/NOTICE" "$name/"
cp "$own/README" "$name/"
cp -R "$top/examples/models" "$name/examples/"
cp "$top/bench/gpu.py" "$name/bench/"
mkdir "$name/tests/models"
cp "$top"/tests/models/*.py "$name/tests/models/"
TDLC=./tdlc sh "$top/tests/gpu/plans.sh" "$name/plans"

# The licences of the libraries, if the system knows them.
if command -v dpkg-query >/dev/null; then
	mkdir "$name/licences"
	for file in "$name"/lib/* "$name/libc/libc.so"*; do
		package=$(dpkg-query -S "*/${file##*/}" 2>/dev/null |
			sed -n '1s/:.*//p')
		[ ! -f "/usr/share/doc/$package/copyright" ] ||
			cp "/usr/share/doc/$package/copyright" \
				"$name/licences/$package"
	done
fi

chmod -R u+w "$name"
tar -cf - "$name" | gzip -n -9 >"$name.tar.gz.tmp"
mv "$name.tar.gz.tmp" "$name.tar.gz"
rm -rf "$name"
ls -l "$name.tar.gz"
