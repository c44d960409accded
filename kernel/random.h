/* Random numbers as a pure function of a seed and a position, so that every
 * division of a tensor draws the same elements. */
#ifndef TDL_KERNEL_RANDOM_H
#define TDL_KERNEL_RANDOM_H

#include <stdint.h>

/* Number n of the stream of a seed, uniform over 32 bits: word n % 4 of
 * Philox4x32-10 (Salmon et al., SC'11) with the seed as key and n / 4 as
 * counter. */
uint32_t random_word(uint64_t seed, uint64_t n);

/* Words 4 * block .. 4 * block + 3 of a stream. */
void random_block(uint64_t seed, uint64_t block, uint32_t *words);

#endif
