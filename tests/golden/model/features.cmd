# Names, blocks, loops, numbers.
for args in "names" "names -D units=4 -D twice=true -D last=sum -D t=f64" \
	"names -D units=[]" "values"; do
	# shellcheck disable=SC2086
	tdlc show features.tdl --opdefs ../../../opdefs --model $args ||
		echo "-> $?"
done
tdlc show features.tdl --model values -D n=4 --opdefs ../../../opdefs
