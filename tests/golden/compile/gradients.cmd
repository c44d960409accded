# What is derived is TDL, has no fault, and is right.
tdlc compile --gradients gradients.tdl -o - >"$tmp/g.tdl" &&
cat "$tmp/g.tdl" &&
tdlc fmt --check "$tmp/g.tdl" &&
tdlc check -I . "$tmp/g.tdl" &&
tdlc verify --gradients --trials 10 gradients.tdl | sed -n '$s/.*; //p'
