# The operators printed in the reference.
tdlc fmt - <language.tdl
