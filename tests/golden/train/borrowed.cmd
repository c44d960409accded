# A result that another operator computed on its way, or that is there twice,
# has its own part in the gradient, once.
tdlc show parts/borrowed.tdl --opdefs ../../../opdefs --train --model borrowed
tdlc show parts/borrowed.tdl --opdefs ../../../opdefs --train --model doubled
