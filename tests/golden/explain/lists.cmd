# A product of matrices, a diagonal, faults in the lists.
l=lists.tdl
tdlc explain traces $l
tdlc explain traces $l --shape x=4x6x4 -D l=4,6 -D from=0,1,0 -D kept=1
tdlc explain turned $l
tdlc explain weighted $l
tdlc explain weighted $l --shape x=4x6 --shape w=6 -D by=1
tdlc explain traces $l --shape x=4x6 -D l=4,6 -D from=0,1 -D kept=0,0
tdlc explain traces $l --shape x=4x6 -D l=4,6 -D from=0,2 -D kept=0
tdlc explain turned $l --shape x=4x6 -D perm=1
