# A divisor of 0 is no fault where nothing is computed; with one row it is.
for k in 1 2; do
	tdlc plan nowhere.tdl -k $k -o "$tmp/plan" >/dev/null &&
		tdlrun "$tmp/plan" --verify --kernels interpreter |
		grep verified
done
tdlc show nowhere.tdl
tdlc show nowhere.tdl -D N=1 | grep '^u'
sed 's/M = 3/M = 0/; s/transpose(x, perm = \[1, 0\])/x/; s/x\[N, 3\]/x[2, 0]/' \
	nowhere.tdl >"$tmp/empty.tdl"
tdlc show "$tmp/empty.tdl" | grep '^[uv]'
cat >"$tmp/zero.tdl" <<'END'
op f(x[N]; k: int) -> y[N] = lambda i: x[i / k]

model m() {
    input x[2]
    y = f(x, k = 0)
    output y
}
END
tdlc show "$tmp/zero.tdl" || echo "status $?"
