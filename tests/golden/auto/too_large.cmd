# Some planners' plans are too large to be written: auto takes one of the others.
cat >"$tmp/large.tdl" <<'END'
model large(n = 4194304) {
    input x[8, n]
    param v[n, n]
    param w[n, n]
    y = matmul(matmul(x, v), w)
    output y
}
END
status() { "$@" || echo "-> $?"; }
status tdlc plan "$tmp/large.tdl" -k 8 --algorithm data-parallel -o "$tmp/p"
status tdlc plan "$tmp/large.tdl" -k 8 --algorithm auto -o "$tmp/p" |
	sed -n '/planned by/p; /memory/p'
status tdlc plan "$tmp/large.tdl" -k 1 --algorithm auto -o "$tmp/q"
ls "$tmp"
