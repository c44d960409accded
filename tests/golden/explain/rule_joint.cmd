# Sums that pass a stage jointly, with shapes and without.
for op in added multiplied; do
	tdlc explain $op rule_joint.tdl --shape a=4x6 --shape b=5x6 --shape s=6 --format=shardy
	tdlc explain $op rule_joint.tdl --format=jax
done
