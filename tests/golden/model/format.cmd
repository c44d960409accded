# The canonical layout: it is kept, and what is crowded becomes it.
tdlc fmt --check features.tdl wrong.tdl static.tdl && echo kept
tdlc fmt - <<'END'
/// Crowded.
model m(a=1,b = [ 1,2 ]) { input x[a , 2]:i64=3 // fed
for i<a{h_{ i +1 }_x=x  // here
next s_{i}=x}
param w_{a*2 + 1}_{  b[0] }[ a,b[0] ,  8] = normal( 0,1 )
state s[ ] for c in   b { z = c }
a,h_{ i }  = f(x)  output a,h_{i}_{f(1)}
output a }
END
tdlc fmt - <<'END'
model m() { input input[3] output = input output output next = output param = 3
in = [param] for in in in { state = in } for for < 3 { next_{for} = 1 }
output output, next_1 next next = state state state[1] param param[in] }
END
