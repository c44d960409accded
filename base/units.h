/* Quantities as people write them: three significant digits, a decimal prefix,
 * a unit.  All programs print through these, and read sizes through one. */
#ifndef TDL_BASE_UNITS_H
#define TDL_BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Text by value: units_bytes(n).text lives until the end of the full
 * expression that it stands in. */
typedef struct quantity {
	char text[32];
} quantity;

/* "96 B", "1.50 kB", "-114 MB": decimal prefixes. */
quantity units_bytes(double n);
/* The texts of n sizes in bytes, at least 0, that are to be told apart: those
 * that differ, but have the same text, are exact, as "1046 B". */
void units_bytes_apart(int n, const double *bytes, quantity *texts);
/* "0 s", "59.3 µs", "1.20 ms", "345 ms", "37.6 s", "1250 s": seconds, at
 * least 0. */
quantity units_seconds(double s);
/* "8.17 GFLOP": v units of any kind. */
quantity units_scaled(double v, const char *unit);
/* q after as many blanks as make it `width' characters wide, at most 31
 * bytes; columns count characters, which printf() does not. */
quantity units_right(quantity q, int width);

/* A size in bytes: a decimal number with K, M, G, T or KiB, MiB, GiB, TiB
 * (powers of 1024), with kB, MB, GB, TB (powers of 1000), with B or nothing;
 * "1.5G".  Fractions of a byte are dropped.  False for any other text, and for
 * 2^62 bytes or more. */
bool units_read_size(const char *text, int64_t *v);

#endif
