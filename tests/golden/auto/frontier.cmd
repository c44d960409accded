tdlc plan parts/net.tdl -k 8 --train --topology 8xh100-nvlink --frontier
tdlc plan parts/net.tdl -k 4 --train --frontier --json
tdlc plan parts/net.tdl -k 4 --frontier -o "$tmp/x.plan"
