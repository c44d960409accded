/* The small floats' bits.  Private to plan/; elements of any type are in
 * plan/eval.h. */
#ifndef TDL_PLAN_ELEM_H
#define TDL_PLAN_ELEM_H

#include <stdint.h>

uint16_t elem_to_f16(double v);
uint16_t elem_to_bf16(double v);
double elem_from_f16(uint16_t bits);
double elem_from_bf16(uint16_t bits);

#endif
