# A file without a word is in the canonical layout already, or becomes empty.
: >"$tmp/empty.tdl"
printf '\n \n' >"$tmp/blank.tdl"
tdlc fmt --check "$tmp/empty.tdl" &&
tdlc fmt "$tmp/blank.tdl" &&
wc -c <"$tmp/blank.tdl"
