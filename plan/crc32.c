/* With multiplications of polynomials, where the processor has them, the bytes
 * are folded: a block of 128 bits, times x^d modulo the checksum's polynomial,
 * stands for itself d bits further on.  See V. Gopal et al., Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel, 2009.
 * zlib computes the rest. */
#include "config.h"

#include "plan/crc32.h"

#include <zlib.h>

#ifdef __x86_64__
#include <immintrin.h>

#define POLYNOMIALS __attribute__((target("pclmul,sse4.1")))

enum { BLOCK = 16, BLOCKS = 4, LEAST_BYTES = BLOCK * BLOCKS };

/* Powers of x modulo the polynomial, with their bits reversed: those by which
 * the halves of a block are moved on by four blocks, by one, and to its end;
 * and the polynomial with its inverse. */
static const uint64_t by_four[2] = { 0x154442bd4, 0x1c6e41596 };
static const uint64_t by_one[2] = { 0x1751997d0, 0x0ccaa009e };
static const uint64_t to_end[2] = { 0x163cd6124, 0 };
static const uint64_t polynomial[2] = { 0x1db710641, 0x1f7011641 };

POLYNOMIALS static __m128i load(const void *at)
{
	return _mm_loadu_si128(at);
}

/* A block moved on to another one, and added. */
POLYNOMIALS static __m128i fold(__m128i x, __m128i by, __m128i to)
{
	__m128i low = _mm_clmulepi64_si128(x, by, 0x00);
	__m128i high = _mm_clmulepi64_si128(x, by, 0x11);
	return _mm_xor_si128(_mm_xor_si128(low, high), to);
}

/* The remainder of a block that everything has been folded into. */
POLYNOMIALS static uint32_t reduce(__m128i x)
{
	const __m128i low = _mm_setr_epi32(-1, 0, -1, 0);
	const __m128i p = load(polynomial);
	__m128i y = _mm_clmulepi64_si128(x, load(by_one), 0x10);
	x = _mm_xor_si128(_mm_srli_si128(x, 8), y);
	y = _mm_clmulepi64_si128(_mm_and_si128(x, low), load(to_end), 0x00);
	x = _mm_xor_si128(_mm_srli_si128(x, 4), y);
	y = _mm_clmulepi64_si128(_mm_and_si128(x, low), p, 0x10);
	y = _mm_clmulepi64_si128(_mm_and_si128(y, low), p, 0x00);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, y), 1);
}

/* n: at least LEAST_BYTES, and whole blocks. */
POLYNOMIALS static uint32_t add_blocks(uint32_t crc, const char *at, size_t n)
{
	const char *end = at + n;
	__m128i x[BLOCKS];
	for (int i = 0; i < BLOCKS; i++)
		x[i] = load(at + i * BLOCK);
	x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)~crc));
	at += LEAST_BYTES;
	for (; end - at >= LEAST_BYTES; at += LEAST_BYTES)
		for (int i = 0; i < BLOCKS; i++)
			x[i] = fold(x[i], load(by_four), load(at + i * BLOCK));
	for (int i = 1; i < BLOCKS; i++)
		x[0] = fold(x[0], load(by_one), x[i]);
	for (; at < end; at += BLOCK)
		x[0] = fold(x[0], load(by_one), load(at));
	return ~reduce(x[0]);
}

uint32_t crc32_add(uint32_t crc, const void *data, size_t n)
{
	size_t blocks = n / BLOCK * BLOCK;
	if (blocks < LEAST_BYTES || !__builtin_cpu_supports("pclmul") ||
	    !__builtin_cpu_supports("sse4.1"))
		return (uint32_t)crc32_z(crc, data, n);
	const char *rest = (const char *)data + blocks;
	return (uint32_t)crc32_z(add_blocks(crc, data, blocks),
				 (const unsigned char *)rest, n - blocks);
}

#else

uint32_t crc32_add(uint32_t crc, const void *data, size_t n)
{
	return (uint32_t)crc32_z(crc, data, n);
}

#endif
