# What descriptors say is what is found for shapes.
tdlc verify analyses.tdl
