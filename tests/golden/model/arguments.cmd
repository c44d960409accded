# Values of arguments on the command line.
show() { tdlc show wrong.tdl --opdefs ../../../opdefs "$@" || echo "-> $?"; }
show
show --model no_such
show --model needs -D n=x
show --model needs -D n=2
show --model arguments -D n=2 -D t=f16
show --model arguments -D n=2.5
show --model arguments -D n=true
show --model arguments -D f=one
show --model arguments -D b=1
show --model arguments -D t=f33
show --model arguments -D n
show --model arguments -D q=1
show --model arguments -D n=1 -D n=2
show --model arguments --shape x=7
show --model arguments --shape x=7x7
show --model arguments --shape y=7
tdlc show ../../../opdefs/loss.tdl --opdefs ../../../opdefs || echo "-> $?"
tdlc show absent.tdl --opdefs ../../../opdefs || echo "-> $?"
for list in '[]' '2,3' ' [ 2 , 3 ] ' '[[2, 3], 4]' '[2],[3]' '[[[]]]' '[2, ]' '[' \
	'[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]'; do
	tdlc show lists.tdl --opdefs ../../../opdefs -D "dims=$list" 2>&1 |
		grep -e '^input' -e error
done
