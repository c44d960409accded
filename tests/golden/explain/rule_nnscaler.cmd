tdlc explain matmul parts/language.tdl --shape a=4x16 --shape b=16x8 --format=nnscaler
tdlc explain softmax parts/language.tdl --shape x=4x6 -D axis=1 --format=nnscaler
tdlc explain reshape parts/language.tdl --shape x=4x6 -D shape=4,2,3 --format=nnscaler
tdlc explain conv1d parts/language.tdl --shape data=8x16x34 --shape filters=16x4x3 --format=nnscaler
tdlc explain conv2d parts/language.tdl --shape x=2x3x9x9 --shape w=4x3x3x3 -D strides=2,2 -D "pads=[1, 1, 1, 1]" --format=nnscaler
tdlc explain embedding parts/language.tdl --shape ids=4x6 --shape table=10x8 --format=nnscaler
tdlc explain add parts/language.tdl --shape a=4x6 --shape b=6 --format=nnscaler
tdlc explain batch_cholesky parts/language.tdl --shape a=4x3x3 --format=nnscaler
tdlc explain argmax parts/language.tdl --shape x=4x6 --format=nnscaler
tdlc explain transpose parts/language.tdl --shape x=4x6x5 -D perm=2,0,1 --format=nnscaler
tdlc explain same parts/language.tdl --shape x=4 --format=nnscaler
tdlc explain reduce_sum parts/language.tdl --shape x=4x6x5 -D axes=0,2 --format=nnscaler
