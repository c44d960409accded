#include "config.h"

#include "dsl/check.h"

void check_module(tdl_modules *m, const ast_module *module)
{
	(void)m, (void)module;
}
