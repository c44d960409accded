# A reduction over dimensions that a lambda around it runs over, too.
tdlc compile --gradients gradients_hidden.tdl -o -
