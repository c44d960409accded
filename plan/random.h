/* Random numbers as a pure function.  Private to plan/. */
#ifndef TDL_PLAN_RANDOM_H
#define TDL_PLAN_RANDOM_H

#include <stdint.h>

/* Number n of the stream of a seed, uniform over 32 bits: word n % 4 of
 * Philox4x32-10 with the seed as its key and n / 4 as its counter. */
uint32_t random_word(uint64_t seed, uint64_t n);

#endif
