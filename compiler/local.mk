include compiler/expand/local.mk
include compiler/analysis/local.mk
include compiler/verify/local.mk
include compiler/graph/local.mk
include compiler/search/local.mk
include compiler/lower/local.mk
include compiler/codegen/local.mk
include compiler/driver/local.mk
