#include "config.h"

#include "runtime/run/machine_levels.h"

#include <sched.h>
#include <stdbool.h>
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

/* ---- processors -------------------------------------------------------- */

static void add_processor(const machine_levels *m, int i, cpu_set_t *to)
{
	if (m->processors[i] < CPU_SETSIZE)
		CPU_SET(m->processors[i], to);
}

void machine_levels_bind(const machine_levels *m, int l, int each)
{
	const machine_level *at = &m->at[l];
	cpu_set_t some;
	CPU_ZERO(&some);
	for (int i = 0; i < at->size; i++)
		for (int j = 0; j < each && j < at->part; j++)
			add_processor(m, i * at->part + j, &some);
	(void)sched_setaffinity(0, sizeof(some), &some);
}

void machine_levels_free(const machine_levels *m)
{
	cpu_set_t all;
	CPU_ZERO(&all);
	for (int i = 0; i < m->nprocessors; i++)
		add_processor(m, i, &all);
	if (m->nprocessors > 0)
		(void)sched_setaffinity(0, sizeof(all), &all);
}

/* ---- levels ------------------------------------------------------------ */

#ifdef HAVE_HWLOC

/* Loads the processors that this process may use, or those described by
 * HWLOC_SYNTHETIC or HWLOC_XMLFILE in the environment. */
static bool load(hwloc_topology_t *t)
{
	if (hwloc_topology_init(t))
		return false;
	hwloc_topology_set_flags(
		*t, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
	if (!hwloc_topology_load(*t))
		return true;
	hwloc_topology_destroy(*t);
	return false;
}

/* The number of processors in each object at a depth; 0 if they differ. */
static int each_has(hwloc_topology_t t, int depth)
{
	int n = 0;
	for (hwloc_obj_t o = NULL;
	     (o = hwloc_get_next_obj_by_depth(t, depth, o));) {
		int here = hwloc_get_nbobjs_inside_cpuset_by_type(
			t, o->cpuset, HWLOC_OBJ_PU);
		if (n > 0 && here != n)
			return 0;
		n = here;
	}
	return n;
}

static const char *name_at(arena *a, hwloc_topology_t t, int depth)
{
	char name[64] = "";
	hwloc_obj_t o = hwloc_get_obj_by_depth(t, depth, 0);
	hwloc_obj_type_snprintf(name, sizeof(name), o, 0);
	return arena_printf(a, "%s", name);
}

/* Adds the levels: there is one where objects have several parts, the innermost
 * if several hold the same.  Returns false if parts differ or there are too
 * many. */
static bool add_levels(arena *a, hwloc_topology_t t, machine_levels *m)
{
	int depth = hwloc_topology_get_depth(t);
	for (int d = 0; d + 1 < depth; d++) {
		int n = each_has(t, d), part = each_has(t, d + 1);
		if (n <= 0 || part <= 0 || n % part)
			return false;
		if (n == part)
			continue;
		if (m->n == MACHINE_LEVELS)
			return false;
		m->at[m->n++] = (machine_level){ name_at(a, t, d), n / part,
						 part };
	}
	return m->n > 0;
}

static void add_processors(arena *a, hwloc_topology_t t, machine_levels *m)
{
	int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	unsigned *all = ARENA_ARRAY(a, unsigned, n);
	for (int i = 0; i < n; i++)
		all[i] = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU,
					       (unsigned)i)->os_index;
	m->nprocessors = n;
	m->processors = all;
}

machine_levels machine_levels_find(arena *a)
{
	machine_levels m = { 0 };
	hwloc_topology_t t;
	if (!load(&t))
		return m;
	if (add_levels(a, t, &m))
		add_processors(a, t, &m);
	else
		m.n = 0;
	hwloc_topology_destroy(t);
	return m;
}

#else

machine_levels machine_levels_find(arena *a)
{
	(void)a;
	return (machine_levels){ 0 };
}

#endif
