#include "config.h"

#include "runtime/exec/builtin.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *symbol;
	tdl_kernel *kernel;
} table[] = {
	{ "tdl_cholesky", tdl_cholesky },
	{ "tdl_determinant", tdl_determinant },
	{ "tdl_inverse", tdl_inverse },
	{ "tdl_top_order", tdl_top_order },
};

tdl_kernel *builtin_kernel(const char *symbol)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].symbol, symbol))
			return table[i].kernel;
	return NULL;
}
