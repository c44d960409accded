/* UTF-8 (RFC 3629): checks bytes that come from source texts and models. */
#ifndef TDL_BASE_UTF8_H
#define TDL_BASE_UTF8_H

#include <stddef.h>

/* The length in bytes of the character at s[0..left), left > 0; 0 if it is not
 * well-formed. */
static inline size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char c = s[0];
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3
		 : c < 0xf5 ? 4 : 0;
	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) ||
	    (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

#endif
