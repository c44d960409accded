show() { tdlc show parts/two.tdl --opdefs ../../../opdefs "$@" || echo "-> $?"; }
show --model no_loss --train
show --model wide_loss --train
show --model no_weights --train
show --model no_gradient --train
show --model no_gradient --train --freeze w
show --model two --train --freeze 'q*' --freeze 'un*'
show --model two --train --train-only 'w*' --train-only 'q*' | tail -4
show --model two --train --train-only 'q*'
show --model two --train --loss mse
show --model no_loss --train --loss three_losses
show --model no_loss --train --loss odd_label
show --model no_loss --train --loss relu
show --model no_loss --train --loss nothing
show --model two --train --optimizer nothing
show --model two --train --optimizer relu
show --model two --train --optimizer forgetful
show --model two --train --optimizer unknown_input
show --model two --train --optimizer too_many
show --model two --train --optimizer other_shape
show --model two --train --optimizer sgd,momentum
show --model two --train --optimizer sgd,impulse=1
show --model two --train --optimizer sgd,momentum=1,momentum=1
show --model two --train --optimizer sgd,momentum=much
show --model two --train --optimizer sgd,nesterov=1
show --model two --train --clip-norm -1
show --model two --optimizer sgd
show --model two --loss mse
show --model two --clip-norm 1
show --model two --freeze w
show --model two --train-only w
show --model two --train --evaluate
show --model two --evaluate --optimizer sgd
show --model two --evaluate --freeze 'q*'
tdlc plan parts/two.tdl --opdefs ../../../opdefs --model two -k 2 --clip-norm 0 || echo "-> $?"
show --model shared --train --recompute 100
show --model shared --train --recompute 'h,q*'
show --model shared --train --recompute loss
show --model shared --recompute sqrt
