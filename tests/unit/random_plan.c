#include "config.h"

#include "tests/unit/random_plan.h"

#include <check.h>

#include "compiler/codegen/codegen.h"
#include "compiler/lower/bucket.h"
#include "compiler/lower/lower.h"
#include "tests/unit/random_graph.h"

plan *random_plan(arena *a, uint64_t seed, int nnodes, bool sources)
{
	rng r = rng_new(seed);
	graph *g = random_graph(a, &r, nnodes);
	assignment as = random_assignment(a, &r, g);
	lower_options o = { .algorithm = "random" };
	if (sources)
		o.codegen = codegen_sources;
	plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
	ck_assert_ptr_nonnull(p);
	return p;
}

plan *random_training_plan(arena *a, uint64_t seed, int nnodes, const mesh *m)
{
	rng r = rng_new(seed);
	graph *g = random_training(a, &r, nnodes);
	assignment as = m ? random_assignment_on(a, &r, g, m) :
			    random_assignment(a, &r, g);
	lower_options o = { .algorithm = "random" };
	plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
	ck_assert_ptr_nonnull(p);
	return p;
}

int64_t random_bucket_bytes(uint64_t seed)
{
	static const int64_t bytes[] = { 1 << 20, 64, 1024 };
	return bytes[seed % 3];
}

plan *in_buckets(arena *a, plan *p, uint64_t seed)
{
	const bucket_options o = { random_bucket_bytes(seed),
				   topology_preset(0), PLAN_MAX_BYTES };
	return bucket_plan(a, p, layout_classes_new(a, &p->mesh), &o);
}

plan *random_parallel_plan(arena *a)
{
	plan *p;
	uint64_t seed = 0;
	do
		p = random_plan(a, seed++, 4, false);
	while (mesh_workers(&p->mesh) < 3 || p->ninputs == 0);
	return p;
}
