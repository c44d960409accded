for f in triangle shared colours frustrated top; do
	echo "$f"
	tdlc solve "../../data/wcsp/$f.wcsp" || echo "exit status $?"
	tdlc solve --json --time-limit 10 "../../data/wcsp/$f.wcsp"
done | sed 's/^[0-9.]* seconds/S seconds/; s/"seconds": .*/"seconds": S/'
