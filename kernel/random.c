/* Philox4x32-10: ten rounds that mix a counter of four words under a key of
 * two.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", SC'11. */
#include "config.h"

#include "kernel/random.h"

enum { ROUNDS = 10, WORDS = 4 };

void random_block(uint64_t seed, uint64_t block, uint32_t *x)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	x[0] = (uint32_t)block;
	x[1] = (uint32_t)(block >> 32);
	x[2] = x[3] = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = (uint64_t)x[0] * 0xd2511f53;
		uint64_t b = (uint64_t)x[2] * 0xcd9e8d57;
		uint32_t y[4] = { (uint32_t)(b >> 32) ^ x[1] ^ key[0],
				  (uint32_t)b,
				  (uint32_t)(a >> 32) ^ x[3] ^ key[1],
				  (uint32_t)a };
		for (int j = 0; j < 4; j++)
			x[j] = y[j];
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
}

uint32_t random_word(uint64_t seed, uint64_t n)
{
	uint32_t x[WORDS];
	random_block(seed, n / WORDS, x);
	return x[n % WORDS];
}
