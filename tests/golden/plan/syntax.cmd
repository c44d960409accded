echo '{"format": "tdl-plan",' >"$tmp/broken.plan"
tdlrun "$tmp/broken.plan"
