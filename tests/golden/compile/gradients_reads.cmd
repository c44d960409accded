# Each gradient is valid, whatever its operator reads, and where.
tdlc compile --gradients gradients_reads.tdl -o "$tmp/made.tdl" &&
cat "$tmp/made.tdl" &&
tdlc check "$tmp/made.tdl"
tdlc verify --gradients --strict gradients_reads.tdl
