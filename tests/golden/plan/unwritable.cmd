# That a file cannot be written is found ahead of what may take long: no model is
# read, no plan is looked for, nothing runs.
status() { "$@" || echo "-> $?"; }
cd "$tmp" || exit
mkdir folder
status tdlc plan missing.tdl -k 2 -o none/a.plan
status tdlc plan missing.tdl -k 2 -o folder
status tdlc plan missing.tdl -k 2 --report none/a.html
status tdlc profile missing.tdl -o none/a.profile
status tdlc place missing.json -k 2 -o none/a.json
status tdlc place missing.json -k 2 --gantt none/a.svg
status tdlc report missing.plan -o none/a.html
status tdlc simulate missing.plan --trace none/a.trace
status tdlc simulate missing.plan --diagram none/a.svg
status tdlc export missing.plan --to jax -o none/a.py
status tdlc compile missing.tdl -o none/a.tdd
status tdlc compile missing.tdl -o a.tdd -MD -MF none/a.d
echo 'model m() { param w[4, 4] input x[4, 4] y = matmul(x, w) output y }' >m.tdl
tdlc plan m.tdl -k 2 -o m.plan >m.txt
for file in --outputs=none/a.npz --trace=none/a.json --profile=none/a.json; do
	status tdlrun m.plan "$file"
done
status tdlrun --calibrate --quick -o none/a.json
# Nor is anything left of the look.
ls
# No name is no file, and an archive is no stream.
status tdlc plan missing.tdl -k 2 -o ''
status tdlc plan missing.tdl -k 2 --report ''
status tdlrun m.plan --outputs ''
mkfifo pipe
status tdlrun m.plan --outputs pipe
status tdlrun m.plan --outputs -
# Nor is it what is read, by any of its names, or asked for twice.
ln -s m.tdl link.tdl
status tdlc plan m.tdl -k 2 -o m.tdl
status tdlc plan m.tdl -k 2 -o link.tdl
status tdlc plan m.tdl -k 2 -o a.plan --report a.plan
status tdlc report m.plan -o m.plan
status tdlc compile m.tdl -o a.tdd -MD -MF a.tdd
status tdlc plan m.tdl -k 2 -o a.plan --report ./a.plan
echo x >pins
status tdlc plan m.tdl -k 2 --pins pins -o pins
status tdlc plan m.tdl -k 2 --topology pins -o pins
status tdlc simulate m.plan --topology pins --trace pins
status tdlc compile m.tdl -MD -o m.d
status tdlrun m.plan --outputs m.plan
status tdlrun m.plan --data pins --log pins
status tdlrun m.plan --trace a.json --profile a.json
# A folder is looked at likewise.
status tdlc plan missing.tdl -k 2 --emit-cuda none/deep
status tdlc plan missing.tdl -k 2 --emit-cuda m.tdl
status tdlc plan missing.tdl -k 2 --emit-cuda new/
status tdlc export missing.plan --to cuda -o none/deep
ls
