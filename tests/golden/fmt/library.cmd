# What is installed, and the examples, are in canonical layout.
find ../../../opdefs ../../../examples -name '*.tdl' | LC_ALL=C sort >"$tmp/list"
test -s "$tmp/list" && xargs "$TDLC" fmt --check <"$tmp/list"
