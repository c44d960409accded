tdlc plan parts/net.tdl -k 8 --train --topology 8xh100-nvlink --frontier
tdlc plan parts/net.tdl -k 4 --train --frontier --json
# Within a limit, and where nothing keeps to it.
tdlc plan parts/net.tdl -k 2 -D depth=1 --frontier --memory 236000
tdlc plan parts/net.tdl -k 2 -D depth=1 --frontier --memory 200K
# Its first plan is that of auto.
machine="-k 8 --train --topology 8xh100-nvlink"
tdlc plan parts/net.tdl -D width=768 $machine --frontier | sed -n 4p
tdlc plan parts/net.tdl -D width=768 $machine --algorithm auto | grep -E 'memory|predicted'
tdlc plan parts/net.tdl -k 4 --frontier -o "$tmp/x.plan"
tdlc plan parts/net.tdl -k 2 --frontier --algorithm tofu
