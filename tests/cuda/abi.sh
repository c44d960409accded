#!/bin/sh
# Tests: runtime/cuda
# The headers in include/ have the values and layouts of the real ones, which
# abi.txt lists:
#
#	abi.sh [INCLUDE-DIR]	compares a folder of headers, by default ours
#	UPDATE=1 abi.sh DIR	writes abi.txt from real ones
. "${srcdir:-.}/tests/lib.sh"

here=$(cd "${srcdir:-.}" && pwd)/tests/cuda
folder=${1:-$here/include}

# All enumerators, and the layouts of what is not opaque.
enumerators=$(sed -n \
	's/^	\([A-Za-z][A-Za-z0-9_]*\) = .*/\1/p' "$here"/include/*.h |
	grep -v -e '^ncclNumResults$' -e '^ncclMaxRedOp$' | LC_ALL=C sort -u)
constants='CU_MEMHOSTALLOC_PORTABLE CU_MEMHOSTALLOC_DEVICEMAP
	CU_MEMHOSTREGISTER_PORTABLE CU_MEMHOSTREGISTER_DEVICEMAP
	NCCL_UNIQUE_ID_BYTES NCCL_SPLIT_NOCOLOR NCCL_CONFIG_UNDEF_INT'
types='CUdeviceptr CUdevice CUuuid CUresult CUdevice_attribute
	CUstreamCaptureMode nvrtcResult ncclUniqueId ncclResult_t ncclRedOp_t
	ncclDataType_t cublasLtMatmulAlgo_t cublasLtMatmulHeuristicResult_t
	cublasLtMatmulDescOpaque_t cublasLtMatrixLayoutOpaque_t
	cublasLtMatmulPreferenceOpaque_t cublasStatus_t cudaDataType_t
	cudnnStatus_t cudnnConvolutionFwdAlgoPerf_t
	cudnnConvolutionBwdDataAlgoPerf_t cudnnConvolutionBwdFilterAlgoPerf_t'
config='size magic version blocking cgaClusterSize minCTAs maxCTAs netName
	splitShare trafficClass commName collnetEnable CTAPolicy shrinkShare
	nvlsCTAs nChannelsPerNetPeer nvlinkCentricSched'
result='algo workspaceSize state wavesCount reserved'
offer='algo status time memory determinism mathType'
{
	for h in cuda nvrtc nccl cublasLt cudnn; do
		echo "#include <$h.h>"
	done
	cat <<'END'
#include <stddef.h>
#include <stdio.h>
#define N(x) printf("%s %lld\n", #x, (long long)(x));
#define O(t, m) N(offsetof(t, m))
/* The name that the driver's library has. */
#define T(x) #x
#define S(x) printf("%s is %s\n", #x, T(x));
int main(void)
{
END
	for x in $enumerators $constants; do
		echo "	N($x)"
	done
	for x in $types; do
		echo "	N(sizeof($x))"
	done
	for x in $config; do
		echo "	O(ncclConfig_t, $x)"
	done
	for x in $result; do
		echo "	O(cublasLtMatmulHeuristicResult_t, $x)"
	done
	for x in $offer; do
		echo "	O(cudnnConvolutionFwdAlgoPerf_t, $x)"
	done
	sed -n 's/^#define \(cu[A-Za-z0-9]*\) cu.*/	S(\1)/p' \
		"$here/include/cuda.h"
	echo '	return 0;'
	echo '}'
} >"$tmp/abi.c"
# shellcheck disable=SC2086
expect 0 ${CC:-cc} -w -isystem "$folder" -o "$tmp/abi" "$tmp/abi.c"
expect 0 "$tmp/abi"
[ -z "${UPDATE-}" ] || cp "$tmp/out" "$here/abi.txt"
diff "$here/abi.txt" "$tmp/out" || fail "$folder differs from abi.txt"
finish
