/* Everything that the text of a generated kernel needs. */
#ifndef TDL_KERNELS_H
#define TDL_KERNELS_H

#include "tdl/functions.h"
#include "tdl/generated.h"

#define TDL_T	     float
#define TDL_TYPED(x) tdl_##x##_f32
#define TDL_FMA	     tdl_fma_f32
#include "tdl/product.h"

#define TDL_T	     double
#define TDL_TYPED(x) tdl_##x##_f64
#define TDL_FMA	     tdl_fma_f64
#include "tdl/product.h"

#define TDL_T	     int64_t
#define TDL_TYPED(x) tdl_##x##_i64
#define TDL_FMA	     tdl_fma_i64
#include "tdl/product.h"

#include "tdl/squares.h"

#endif
