# Four of five products are joined; not those of 65,536 terms for each element.
for sizes in '-D batch=1' '-D batch=65536 -D width=16777216'; do
	# shellcheck disable=SC2086
	tdlc show joined.tdl --train --optimizer sgd $sizes |
		grep -c ' product_grad_b '
done
