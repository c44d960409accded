#include "config.h"

#include "compiler/lower/program.h"

int *program_order(draft *d)
{
	int *order = ARENA_ARRAY(d->tmp, int, d->p->nnodes);
	for (int n = 0; n < d->p->nnodes; n++)
		order[n] = n;
	return order;
}
