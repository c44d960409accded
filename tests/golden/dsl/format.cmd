# The canonical layout: comments stay, long lines are broken, blank lines are
# kept one at a time.
tdlc fmt - <messy.txt
