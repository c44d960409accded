#!/bin/bash
# Tests: share
# Debian's packages hold all that `make install' puts in place and nothing else,
# and are of this version.  CHECK_ALL=yes builds them, too, which takes minutes,
# and lintian finds no error in them.
. "${srcdir:-.}/tests/lib.sh"
debian=${srcdir:-.}/debian
[ -d "$debian" ] || exit 77	# the tarball has none

version=$("$TDLC" --version | sed -n '1s/.* //p')
case $(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$debian/changelog") in
"$version") ;;
*) fail "debian/changelog is not of version $version" ;;
esac

multiarch=usr/lib/x86_64-linux-gnu
"${MAKE:-make}" -s install DESTDIR="$tmp/root" prefix=/usr \
	libdir="/$multiarch" >"$tmp/log" 2>&1 || {
	tail "$tmp/log"
	fail 'make install'
	finish
}

# matching PATTERN: the files in it, or below.
matching() {
	# shellcheck disable=SC2086
	(cd "$tmp/root" && find $1 ! -type d 2>"$tmp/missing" || :)
}

for list in "$debian"/*.install; do
	while read -r pattern; do
		matching "$pattern" >"$tmp/some"
		[ -s "$tmp/some" ] || fail "$list: nothing is $pattern"
		cat "$tmp/some" >>"$tmp/packed"
	done <"$list"
done
# Debian has licenses and notices in places of its own: debian/rules.
rm "$tmp/root/usr/share/doc/tdlc/LICENSE" "$tmp/root/usr/share/doc/tdlc/NOTICE"
(cd "$tmp/root" && find . ! -type d) | sed 's|^\./||' | sort >"$tmp/installed"
sort "$tmp/packed" | uniq -d | sed 's/$/ is in two packages/' >"$tmp/wrong"
sort -u "$tmp/packed" | comm -13 - "$tmp/installed" |
	sed 's/$/ is in no package/' >>"$tmp/wrong"
while read -r line; do
	fail "$line"
done <"$tmp/wrong"

if [ "${CHECK_ALL-}" = yes ] && command -v lintian >/dev/null; then
	expect 0 env -u srcdir "${MAKE:-make}" -s deb
	expect 0 lintian --allow-root --fail-on error deb/*.changes
fi
finish
