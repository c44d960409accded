#include "config.h"

#include "compiler/placement/split.h"
#include "compiler/placement/stage_cost.h"

/* Sums begin at the end, so that equal runs of layers have exactly equal
 * sums. */
static void add_layers(stage_costs *c)
{
	const layer_table *t = c->t;
	for (int j = 1; j <= t->n; j++) {
		layer_sums s = { 0 };
		for (int i = j - 1; i >= 0; i--) {
			const layer *l = &t->at[i];
			s.params += l->tie ? 0 : l->params;
			s.flops += l->flops;
			s.act += l->act;
			s.rep += l->rep;
			s.ar += l->ar;
			s.in = i > 0 ? t->at[i - 1].edge : 0;
			s.out = j < t->n ? t->at[j - 1].edge : 0;
			c->at[interval_at(i, j)] = s;
		}
	}
}

/* Adds the parameters of a tie to all intervals with one of its layers. */
static void add_tie(stage_costs *c, int tie)
{
	const layer_table *t = c->t;
	int first = 0, last = t->n - 1, next = -1;
	while (t->at[first].tie != tie)
		first++;
	while (t->at[last].tie != tie)
		last--;
	for (int j = first + 1; j <= t->n; j++) {
		if (t->at[j - 1].tie == tie)
			next = j - 1;
		for (int i = 0; i <= next; i++) {
			layer_sums *s = &c->at[interval_at(i, j)];
			int sides = (first < i) + (last >= j);
			s->params += t->at[first].params;
			s->tied += sides * t->at[first].params;
		}
	}
}

static void add_skip(stage_costs *c, const layer_skip *k)
{
	for (int j = k->from + 1; j <= k->to; j++)
		for (int i = 0; i <= k->from; i++)
			c->at[interval_at(i, j)].skip_out += k->act;
	for (int j = k->to + 1; j <= c->t->n; j++)
		for (int i = k->from + 1; i <= k->to; i++)
			c->at[interval_at(i, j)].skip_in += k->act;
}

static void sort_skips(arena *a, stage_costs *c)
{
	const layer_table *t = c->t;
	int n = 0;
	c->first_skip = ARENA_ARRAY(a, int, t->n + 1);
	c->skips = ARENA_ARRAY(a, layer_skip, t->nskips);
	for (int i = 0; i < t->n; i++) {
		c->first_skip[i] = n;
		for (int k = 0; k < t->nskips; k++)
			if (t->skips[k].from == i)
				c->skips[n++] = t->skips[k];
	}
	c->first_skip[t->n] = n;
}

stage_costs stage_costs_new(arena *a, const layer_table *t, double optimizer,
			    bool zero)
{
	stage_costs c = { .t = t, .optimizer = optimizer, .zero = zero };
	c.at = ARENA_ARRAY(a, layer_sums, interval_at(0, t->n + 1));
	sort_skips(a, &c);
	add_layers(&c);
	for (int tie = 1; tie <= t->nties; tie++)
		add_tie(&c, tie);
	for (int k = 0; k < t->nskips; k++)
		add_skip(&c, &t->skips[k]);
	return c;
}

static double link_of(const layer_table *t, int span)
{
	return span <= t->node ? t->intra : t->inter;
}

static double time_of(const layer_table *t, const layer_sums *s,
		      const stage_way *w, double u, int devices)
{
	double n = w->tensor;
	double time = u * (w->recompute ? 4 : 3) * s->flops / (n * t->flops);
	if (w->tensor > 1)
		time += (w->recompute ? 6 : 4) * 2 * (n - 1) / n * u * s->ar /
			link_of(t, w->tensor);
	time += 2 * u * (s->in + s->out) /
		link_of(t, 2 * w->replicas * w->tensor);
	return time + 2 * u * (s->skip_in + s->skip_out) / link_of(t, devices);
}

stage_cost stage_cost_of(const stage_costs *c, size_t x, const stage_way *w,
			 int samples, int devices)
{
	const layer_table *t = c->t;
	const layer_sums *s = &c->at[x];
	double d = w->replicas, n = w->tensor, u = samples / w->replicas;
	double acts = u * (s->act / n + s->rep);
	return (stage_cost){
		.time = time_of(t, s, w, u, devices),
		.fixed = 2 * s->params / n +
			c->optimizer * s->params / n / (c->zero ? d : 1) +
			(w->recompute ? acts : 0),
		.kept = u * (s->in + s->skip_in) + (w->recompute ? 0 : acts),
		.sync = 2 * (d - 1) / d * s->params / n /
			link_of(t, w->replicas * w->tensor) +
			s->tied / n / link_of(t, devices),
	};
}
