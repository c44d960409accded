# Caches that grow: written in place, or where the output is another copied.
status() { "$@" || echo "-> $?"; }
plan() { tdlc plan carry.tdl "$@" -o "$tmp/p.plan" >/dev/null || echo "-> $?"; }
decoder() { plan --model decoder "$@"; }
all='--carry-length 8 --carry-mask mask --carry-positions places'
decoder -k 2 --carry next_keys=keys $all
grep '"growth"' "$tmp/p.plan"
tdlc show "$tmp/p.plan" | sed -n '/^input/,$p'
tdlrun "$tmp/p.plan" --steps 3 --verify --json | grep -E '"(verified|communication_bytes)"'
decoder -k 2 --carry 'next_*=*' $all
decoder -k 2 -D twice=true --carry next_keys=keys $all
tdlc show "$tmp/p.plan" | grep move_entries
tdlrun "$tmp/p.plan" --steps 3 --verify --json | grep '"verified"'
# Nothing that grows.
plan --model memory -k 2 --carry next_h=h
tdlrun "$tmp/p.plan" --steps 3 --verify --json | grep '"verified"'
plan --model memory -k 2 --carry next_h=h --carry-position at --carry-length 5
grep '"growth"' "$tmp/p.plan"
# An input is called as the plan's own.
placed() { plan --model placed -k 2 --carry next_h=h --carry-positions "$@"; }
placed places
grep -o '"position[^,]*' "$tmp/p.plan"
placed places --carry-position position
grep -o '"position[^,]*' "$tmp/p.plan"
# And cannot be that.
for model in placed_row placed_short; do
	for more in '' '--carry-position position'; do
		plan --model $model -k 2 --carry next_h=h --carry-positions places $more
	done
done
# What does not go.
decoder -k 2 --carry next_keys=keys --carry-length 8
decoder -k 2 --carry next_keys=keys --carry-length 8 --carry-mask mask
decoder -k 2 --carry next_keys=keys
decoder -k 2 --carry next_keys=keys --carry-length 9 --carry-mask mask
decoder -k 2 --carry next_keys=nothing
decoder -k 2 --carry nothing=keys
decoder -k 2 --carry logits=keys
decoder -k 2 --carry next_keys=keys --carry-length 8 --carry-mask places
decoder -k 2 --carry next_keys=keys --carry-length 8 --carry-mask nothing
decoder -k 2 --carry next_keys=keys --carry-length 8 --carry-mask mask --carry-positions nothing
decoder -k 2 --carry next_keys=keys --carry-length 8 --carry-mask mask --carry-positions keys
decoder -k 2 --carry next_keys=keys $all --carry-position nothing
decoder -k 2 --carry next_keys=keys $all --carry-position tokens
decoder -k 2 -D new=9 --carry next_keys=keys $all
plan --model memory -k 2 --carry next_h=h --carry-length 5
plan --model memory -k 2 --carry next_h=h --carry-mask tokens
plan --model memory -k 2 --carry-length 5
decoder -k 2 --train --carry next_keys=keys
for pair in next_keys '=keys' 'next_keys=' 'next_*=keys' '*_*=*_*'; do
	decoder -k 2 --carry "$pair"
done
plan --model memory -k 2 --carry next_h=h --micro-batches 2 --batch-dim tokens=0
# Plans whose position is none.
decoder -k 2 --carry next_keys=keys $all
sed 's/"growth":{"position":[0-9]*/"growth":{"position":1/' "$tmp/p.plan" >"$tmp/q.plan"
status tdlrun "$tmp/q.plan"
sed 's/"growth":{"position":[0-9]*/"growth":{"position":999/' "$tmp/p.plan" >"$tmp/q.plan"
status tdlrun "$tmp/q.plan"
sed 's/"length":8}/"length":0}/' "$tmp/p.plan" >"$tmp/q.plan"
status tdlrun "$tmp/q.plan"
# Generating without what it takes.
for more in '--generate 3' '--prompt none.npz' '--generate 3 --prompt none.npz --verify' \
	'--generate 3 --prompt none.npz --steps 2' '--generate 3 --prompt none.npz' \
	'--generate 3 --prompt none.npz --logits tokens' '--generate 3 --prompt none.npz --token-input keys' \
	'--logits x' '--generate 0 --prompt none.npz'; do
	status tdlrun "$tmp/p.plan" $more
done
