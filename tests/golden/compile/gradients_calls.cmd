# Operators that call others: their gradients call those of the others.
tdlc compile --gradients gradients_calls.tdl -o - >"$tmp/g.tdl" &&
cat "$tmp/g.tdl" &&
tdlc fmt --check "$tmp/g.tdl" &&
tdlc check -I . "$tmp/g.tdl" &&
tdlc verify --gradients --trials 10 gradients_calls.tdl | sed -n '$s/.*; //p'
