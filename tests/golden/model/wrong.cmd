# Each model of wrong.tdl.
for model in $(sed -n 's/^model \([a-z_]*\)(.*/\1/p' wrong.tdl); do
	tdlc show wrong.tdl --model "$model" --opdefs ../../../opdefs || true
done
