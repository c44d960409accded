show() { tdlc show parts/two.tdl --opdefs ../../../opdefs --train "$@" || echo "-> $?"; }
show --model two
show --model two --optimizer sgd,momentum=0.9,lr=0.1 --clip-norm 2.5 --freeze b
show --model two --optimizer adamw | grep step
show --model two --optimizer signs
show --model two --optimizer signs,rate=0.25 --json | grep -A7 '"rate"' | head -8
show --model shared
show --model single
show --model no_loss --loss distance,times=2
show --model shared --recompute 'h.matmul,h'
show --model shared --recompute sqrt | grep -e operators -e "[.]again"
show --model shared --recompute 64KiB | grep -e operators -e "[.]again"
