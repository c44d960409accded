# The descriptor's region may be smaller than the one for shapes, as long as it
# has all that is read.
tdlc verify two_forms.tdl
