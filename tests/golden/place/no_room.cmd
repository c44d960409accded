# Nothing fits, or not where an algorithm looks.
tdlc place parts/two.json -k 2 --memory 450
tdlc place parts/two.json -k 2 --memory 900 --algorithm single
echo "status $?"
tdlc place parts/chain.graph.txt -k 1 --link 1 --memory 1K 2>&1
echo "status $?"
