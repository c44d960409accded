# What Tofu derives by hand: b, co, x with its halo split; ci, dx reduced.
tdlc explain conv1d -k 2
