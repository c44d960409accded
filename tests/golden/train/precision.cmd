# What computes in a short type, and what scaling the loss adds.
show() { tdlc show parts/two.tdl --opdefs ../../../opdefs --model two "$@" || echo "-> $?"; }
show --train --precision bf16
show --train --precision f16 --optimizer adamw --clip-norm 2
show --train --precision f32 | grep operators
show --train --precision f64
show --precision bf16
