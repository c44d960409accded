# A file holds what its JSON says, is the same each time, and holds the
# operators of the files that are named, not those that these import.
tdlc compile parts/uses.tdl -o "$tmp/a.tdd"
tdlc compile parts/uses.tdl -o "$tmp/b.tdd"
cmp "$tmp/a.tdd" "$tmp/b.tdd"
tdlc compile parts/uses.tdl --emit=json -o "$tmp/a.json"
tdlc compile "$tmp/a.tdd" --emit=json -o "$tmp/b.json"
cmp "$tmp/a.json" "$tmp/b.json"
grep '"name": "i' "$tmp/a.json"
