# A name that nothing has: which one was probably meant.
tdlc explian conv2d 2>&1 | head -1
tdlc verify sofmax 2>&1 | sed 's|in /.*;|in the library;|;q'
tdlc doc batchnorm2d 2>&1 | sed 's|in /.*;|in the library;|;q'
tdlc plan misspelt.tdl -k 2 --train --loss mse_loss
tdlc plan misspelt.tdl -k 2 -o misspelt.plan >/dev/null
tdlc explain --plan misspelt.plan --tensor logit 2>&1 | head -1
rm -f misspelt.plan
