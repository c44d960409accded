tdlc compile --gradients --emit=json gradients.tdl -o -
