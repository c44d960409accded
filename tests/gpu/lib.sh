# Sourced by the tests that run on a GPU: $plans, a folder of plans; skips where
# there is none of what they need.  They run on the fake libraries, too, where
# LD_LIBRARY_PATH, or TDL_GPU_LIBRARIES, names their folder.
# shellcheck shell=sh
. "${srcdir:-.}/tests/lib.sh"

here=$(cd "${srcdir:-.}" && pwd)
[ -z "${TDL_GPU_LIBRARIES-}" ] ||
	LD_LIBRARY_PATH=$TDL_GPU_LIBRARIES${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Python brings the libraries along, where PyTorch does.
wheels=$("${PYTHON:-python3}" - 2>/dev/null <<'END'
import glob, site
print(":".join(f for p in site.getsitepackages()
               for f in glob.glob(p + "/nvidia/*/lib")))
END
) || wheels=
LD_LIBRARY_PATH=${LD_LIBRARY_PATH-}${wheels:+${LD_LIBRARY_PATH:+:}$wheels}
export LD_LIBRARY_PATH

# A plan for each network of plans.sh: made here, or in the tarball.
if [ -n "${TDL_GPU_PLANS-}" ]; then
	plans=$TDL_GPU_PLANS
elif [ -d "$here/tests/gpu/plans" ]; then
	plans=$here/tests/gpu/plans
elif [ -x "$TDLC" ]; then
	plans=$tmp/plans
	expect 0 sh "$here/tests/gpu/plans.sh" "$plans"
else
	skip 'there is no tdlc and no tests/gpu/plans'
fi

status=0
"$TDLRUN" "$plans/mlp-1.plan" --backend cuda >"$tmp/out" 2>"$tmp/err" ||
	status=$?
if [ "$status" -eq 4 ] &&
	grep -qE 'not built in|there is no (GPU|library)' "$tmp/err"; then
	skip "$(cat "$tmp/err")"
fi

# close_to A.npz B.npz TOLERANCE: the arrays are, by the norm of each.  Prints
# the greatest distance.
close_to() {
	tests/gpu/near "$@"
}
