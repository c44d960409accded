tdlc explain top3 opaque_attribute.tdl
tdlc explain top3 opaque_attribute.tdl --shape x=4x9 -k 2
