# 0 by 0 is taken for 0, as 0 times infinity is, with and without shapes.
for op in quotient condition; do
	tdlc explain $op zero_quotient.tdl | grep pass
	tdlc explain $op zero_quotient.tdl --shape x=3 --shape y=3 | grep pass
done
