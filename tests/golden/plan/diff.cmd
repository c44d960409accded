# Differences of repeated blocks have one name, and their number.
tdlc plan show.tdl -k 4 -o "$tmp/was.plan" >/dev/null
tdlc plan show.tdl -k 4 --pin 'w_[0-3]=cut 0' --pin 'w_0*=replicated' -o "$tmp/is.plan" >/dev/null
tdlc diff "$tmp/was.plan" "$tmp/is.plan"
