# ParDNN moves what holds up a transfer at a port, not only what is late itself.
tdlc place parts/ports.json -k 2 --algorithm pardnn --gantt -
