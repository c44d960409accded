tdlc compile ../compile/parts/conv1d.tdl -o "$tmp/a.tdd"
head -c 100 "$tmp/a.tdd" >"$tmp/short.tdd"
(cat "$tmp/a.tdd"; echo x) >"$tmp/long.tdd"
echo nonsense >"$tmp/text.tdd"
for file in short long text; do
	tdlc compile "$tmp/$file.tdd" --emit=json -o -
done
