/* Quantities as people write them: three significant digits, a decimal prefix,
 * a unit.  All programs print sizes and times through these functions and read
 * sizes through units_read_size(). */
#ifndef TDL_BASE_UNITS_H
#define TDL_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* A text, returned by value: units_bytes(n).text is valid until the end of the
 * full expression. */
typedef struct quantity {
	char text[32];
} quantity;

/* "96 B", "1.50 kB", "-114 MB": decimal prefixes. */
quantity units_bytes(double n);
/* The texts of n sizes in bytes, >= 0, which the reader must be able to tell
 * apart: different sizes whose short texts are equal are written exactly, as
 * "1046 B". */
void units_bytes_apart(int n, const double *bytes, quantity *texts);
/* "0 s", "59.3 µs", "1.20 ms", "345 ms", "37.6 s", "1250 s": seconds, at
 * least 0. */
quantity units_seconds(double s);
/* "8.17 GFLOP": v with a decimal prefix and any unit. */
quantity units_scaled(double v, const char *unit);
/* q padded on the left to `width' characters, at most 31 bytes in all.  Counts
 * characters, where printf() would count bytes. */
quantity units_right(quantity q, int width);

/* Reads a size in bytes: a decimal number followed by K, M, G, T or KiB, MiB,
 * GiB, TiB (powers of 1024), by kB, MB, GB, TB (powers of 1000), by B, or by
 * nothing; "1.5G".  Drops fractions of a byte.  Returns false for any other
 * text, and for 2^62 bytes or more. */
bool units_read_size(const char *text, int64_t *v);

#endif
