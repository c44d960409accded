// The conversions of small floats, one kernel for each way, for
// test_conversions.c.
#include "tdl/cuda.h"

#define CONVERSIONS(T, U)                                                  \
	extern "C" __global__ void to_##T(const float *x, U *y, int n)     \
	{                                                                  \
		for (int i = 0; i < n; i++)                                \
			y[i] = tdl_to_##T(x[i]);                           \
	}                                                                  \
	extern "C" __global__ void from_##T(const U *x, float *y, int n)   \
	{                                                                  \
		for (int i = 0; i < n; i++)                                \
			y[i] = tdl_from_##T(x[i]);                         \
	}

CONVERSIONS(f16, uint16_t)
CONVERSIONS(bf16, uint16_t)
CONVERSIONS(f8e4m3fn, uint8_t)
CONVERSIONS(f8e4m3fnuz, uint8_t)
CONVERSIONS(f8e5m2, uint8_t)
CONVERSIONS(f8e5m2fnuz, uint8_t)
CONVERSIONS(f8e8m0, uint8_t)
CONVERSIONS(f6e2m3, uint8_t)
CONVERSIONS(f6e3m2, uint8_t)
CONVERSIONS(f4e2m1, uint8_t)
