# Texts of derivatives are parsed to the trees that they were made from.
tdlc compile --gradients gradients_trees.tdl -o "$tmp/made.tdl" &&
grep -v "^import" "$tmp/made.tdl" &&
tdlc check "$tmp/made.tdl"
tdlc verify --gradients --strict gradients_trees.tdl
