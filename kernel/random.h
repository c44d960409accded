/* Random numbers as a pure function of a seed and a position, so that every
 * division of a tensor draws the same elements.  Private to plan/. */
#ifndef TDL_PLAN_RANDOM_H
#define TDL_PLAN_RANDOM_H

#include <stdint.h>

#include "plan/plan.h"

/* Number n of the stream of a seed, uniform over 32 bits: word n % 4 of
 * Philox4x32-10 with the seed as its key and n / 4 as its counter. */
uint32_t random_word(uint64_t seed, uint64_t n);

/* Words 4 * block .. 4 * block + 3 of a stream. */
void random_block(uint64_t seed, uint64_t block, uint32_t *words);

/* Elements first .. first + n of a RANDOM constant of a float type, densely:
 * element i from word i of its key's stream, or, where they are normally
 * distributed, from words 2i and 2i + 1 (Box and Muller, Annals of Mathematical
 * Statistics 29, 1958). */
void random_elements(const plan_constant *c, dtype type, int64_t first,
		     int64_t n, void *to);

#endif
