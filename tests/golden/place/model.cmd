# A model as a cost graph, and placed at once; what goes with models alone, or
# not with them.
model="../../../examples/models/mlp.tdl -D batch=8 -D inputs=4 -D width=16 -D depth=1 -D classes=4 --train"
tdlc show $model --costs | tr -d ' \n' | sed 's/},{/},\n {/g; s/\[{/[\n {/g; s/\],/],\n/g'
echo
tdlc place $model -k 2 --algorithm heft -o "$tmp/p.json"
tdlc score $model -k 2 --placement "$tmp/p.json" | sed -n 2p
sed '/"id": 1,$/,/}/s/"device": ./"device": 1/' "$tmp/p.json" >"$tmp/q.json"
tdlc score $model -k 2 --placement "$tmp/q.json"
tdlc show $model --costs --topology 8xk80 >"$tmp/g.json"
tdlc place "$tmp/g.json" -k 2 --topology 8xk80 | sed 1d >"$tmp/1"
tdlc place $model -k 2 --topology 8xk80 | sed 1d | cmp - "$tmp/1"
tdlc place $model -k 2 --algorithm load | sed -n 2p
for wrong in "$tmp/g.json -k 2 --train" "$tmp/g.json -k 2 -D batch=2" "$model -k 2 --factor 2" \
	"$model -k 2 --algorithm capture" "$model -k 2 --algorithm pipedream"; do
	tdlc place $wrong 2>&1 | head -n 1
done
tdlc show $model --json --costs 2>&1 | head -n 1
tdlc show $model --topology cpu 2>&1 | head -n 1
# What such a file may not have.
for edit in 's/"version": 1/"version": 2/' 's/"results"/"result"/' '/"results"/,/}/s/"id": 0/"id": 99/' \
	'/"results"/,$s/"id": 1,/"id": 0,/' 's/"forwardId": [0-9]*/"forwardId": 13/' \
	's/"step": [0-9]*/"step": 0/' 's/"overId": [0-9]*/"overId": 99/'; do
	sed "$edit" "$tmp/g.json" >"$tmp/h.json"
	tdlc place "$tmp/h.json" -k 2 2>&1 | sed "s|$tmp/||"
done
