tdlc explain greatest guarded_index.tdl && tdlc explain greatest guarded_index.tdl --shape x=4x3 -k 2 && tdlc compile --gradients guarded_index.tdl -o -
