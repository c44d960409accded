#include "config.h"

#include "plan/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(arena *a, const void *data, size_t n)
{
	const unsigned char *in = data;
	char *out = arena_alloc(a, (n + 2) / 3 * 4 + 1), *p = out;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t w = (uint32_t)in[i] << 16;
		w |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		w |= left > 2 ? in[i + 2] : 0;
		*p++ = digits[w >> 18];
		*p++ = digits[w >> 12 & 63];
		*p++ = left > 1 ? digits[w >> 6 & 63] : '=';
		*p++ = left > 2 ? digits[w & 63] : '=';
	}
	return out;
}

static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(const char *text, void *to, size_t n)
{
	unsigned char *out = to;
	if (strlen(text) != (n + 2) / 3 * 4)
		return false;
	for (size_t i = 0; i < n; i += 3, text += 4) {
		size_t left = n - i < 3 ? n - i : 3;
		uint32_t w = 0;
		for (size_t j = 0; j < 4; j++) {
			int d = digit(text[j]);
			if (j > left ? text[j] != '=' : d < 0)
				return false;
			w = w << 6 | (j > left ? 0 : (uint32_t)d);
		}
		if (left < 3 && (w & (left == 1 ? 0xffffu : 0xffu)))
			return false;
		for (size_t j = 0; j < left; j++)
			out[i + j] = (unsigned char)(w >> (16 - 8 * j));
	}
	return true;
}
