# A comment is two blanks behind what it follows.
tdlc fmt - <<'END'
op f(x[N]; a: int // c
 = 3) -> y[N] = lambda n: if // if
 n < 1 then x[n] else x[n] + a // a
END
