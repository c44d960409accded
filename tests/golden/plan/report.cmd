# The JSON of a report, and its faults.
tdlc plan matmul.onnx -k 4 -o report.plan >/dev/null
tdlc report report.plan --topology 8xh100-nvlink --json -o "$tmp/report.html"
grep -c '<html' "$tmp/report.html"
tdlc report report.plan
tdlc report report.plan -o - --json
tdlc report report.plan -o "$tmp/no/report.html" 2>&1 | sed 's/.*: //'
tdlc report report.plan report.plan -o "$tmp/report.html"
tdlc report report.plan --topology no -o "$tmp/none.html"
rm report.plan
echo '{ "plan": 2 }' >report.plan
tdlc report report.plan -o "$tmp/none.html"
ls "$tmp"
tdlc plan show.tdl -k 4 --frontier --report "$tmp/none.html"
rm report.plan
