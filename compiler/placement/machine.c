#include "config.h"

#include "compiler/placement/machine.h"

#include <inttypes.h>
#include <math.h>

/* The limit for times and sizes.  Greater ones are reduced to it; then their
 * sum is too large and is refused at the end. */
#define MOST ((double)COST_GRAPH_MAX_NS)

/* x rounded to the nearest integer, halves up, at most MOST. */
static int64_t rounded(double x)
{
	return (int64_t)fmin(floor(x + 0.5), MOST);
}

/* ---- operators ----------------------------------------------------------- */

/* The kind of a device: the topology's if it lists kinds, otherwise one for
 * all. */
static const topology_devices *kind_of(const topology *t, int device)
{
	static const topology_devices alike = { .speed = 1 };
	int i = 0;
	if (!t || t->nkinds == 0)
		return &alike;
	while (device >= t->kinds[i].count)
		device -= t->kinds[i++].count;
	return &t->kinds[i];
}

/* Whether a topology that lists its devices has at least this many. */
static bool has_devices(diag_sink *s, const topology *t, int ndevices)
{
	int64_t n = 0;
	if (!t || t->nkinds == 0)
		return true;
	for (int i = 0; i < t->nkinds; i++)
		n += t->kinds[i].count;
	if (n >= ndevices)
		return true;
	diag_error_in(s, DIAG_TOPOLOGY_SIZE, t->name,
		      "it lists %" PRId64 " devices, not %d", n, ndevices);
	return false;
}

static void set_speeds(arena *a, machine *m, const topology *t)
{
	double *known = ARENA_ARRAY(a, double, m->ndevices);
	m->speed_of = ARENA_ARRAY(a, int, m->ndevices);
	for (int d = 0; d < m->ndevices; d++) {
		double s = kind_of(t, d)->speed;
		int c = 0;
		while (c < m->nspeeds && known[c] != s)
			c++;
		if (c == m->nspeeds)
			known[m->nspeeds++] = s;
		m->speed_of[d] = c;
	}
	m->ns = ARENA_ARRAY(a, int64_t *, m->nspeeds);
	for (int c = 0; c < m->nspeeds; c++) {
		m->ns[c] = ARENA_ARRAY(a, int64_t, m->g->nops);
		for (int v = 0; v < m->g->nops; v++)
			m->ns[c][v] = rounded(m->g->ops[v].ms * 1e6 / known[c]);
	}
}

static void set_memory(arena *a, machine *m, const machine_request *r)
{
	m->limit = ARENA_ARRAY(a, int64_t, m->ndevices);
	for (int d = 0; d < m->ndevices; d++) {
		int64_t own = kind_of(r->topology, d)->memory;
		m->limit[d] = r->memory ? r->memory : INT64_MAX;
		if (own > 0 && own < m->limit[d])
			m->limit[d] = own;
		if (m->limit[d] > m->most_limit)
			m->most_limit = m->limit[d];
	}
	m->lifetimes = !m->g->resident_has_results;
	m->resident = ARENA_ARRAY(a, int64_t, m->g->nops);
	for (int v = 0; v < m->g->nops; v++) {
		int64_t n = m->g->ops[v].resident_nbytes;
		m->resident[v] = m->g->resident_is_weights ?
					 rounded((double)n * r->factor) : n;
	}
}

/* ---- links --------------------------------------------------------------- */

static void set_level(arena *a, machine *m, double latency, double bandwidth)
{
	int64_t *move = ARENA_ARRAY(a, int64_t, m->g->nresults);
	for (int i = 0; i < m->g->nresults; i++)
		move[i] = rounded(latency * 1e9 +
				  m->g->results[i].bytes / (bandwidth / 1e9));
	m->move[m->nlevels++] = move;
}

static bool set_topology(arena *a, diag_sink *s, machine *m,
			 const topology *t)
{
	int64_t span = 1;
	mesh unused;
	if (!topology_mesh(t, m->ndevices, &unused)) {
		diag_error_in(s, DIAG_TOPOLOGY_SIZE, t->name,
			      "%d devices do not fit: %s", m->ndevices,
			      topology_sizes(a, t));
		return false;
	}
	m->move = ARENA_ARRAY(a, int64_t *, t->nlevels);
	m->span = ARENA_ARRAY(a, int, t->nlevels);
	for (int i = t->nlevels; i-- > 0;) {
		const topology_level *l = &t->levels[i];
		span *= l->size ? l->size : m->ndevices;
		span = span > m->ndevices ? m->ndevices : span;
		m->span[m->nlevels] = (int)span;
		set_level(a, m, l->latency, topology_level_bandwidth(l));
		if (span == m->ndevices)
			break;
	}
	return true;
}

/* Sets the times of transfers from the file.  Each result with a reader needs
 * one. */
static bool set_file_costs(arena *a, diag_sink *s, machine *m)
{
	const cost_graph *g = m->g;
	m->move = ARENA_ARRAY(a, int64_t *, 1);
	m->move[0] = ARENA_ARRAY(a, int64_t, g->nresults);
	m->nlevels = 1;
	for (int i = 0; i < g->nresults; i++) {
		const cost_result *x = &g->results[i];
		if (x->ms < 0 && x->nreaders > 0 && m->ndevices > 1) {
			diag_error_in(s, DIAG_COST_GRAPH_INVALID, g->path,
				      "the file has the bytes of transfers, "
				      "but not their times: a link is needed "
				      "(%s, %s)", diag_option(s, "link"),
				      diag_option(s, "topology"));
			return false;
		}
		m->move[0][i] = x->ms < 0 ? 0 : cost_ns(x->ms);
	}
	return true;
}

/* Whether the times of all operators, and of all transfers to every device or
 * reader, have a sum that does not overflow. */
static bool times_fit(diag_sink *s, const machine *m)
{
	double ns = 0;
	for (int v = 0; v < m->g->nops; v++) {
		int64_t most = 0;
		for (int c = 0; c < m->nspeeds; c++)
			most = m->ns[c][v] > most ? m->ns[c][v] : most;
		ns += (double)most;
	}
	for (int i = 0; i < m->g->nresults; i++) {
		int64_t most = 0;
		for (int l = 0; l < m->nlevels; l++)
			most = m->move[l][i] > most ? m->move[l][i] : most;
		ns += (double)most * m->g->results[i].nreaders;
	}
	if (ns < (double)COST_GRAPH_MAX_NS)
		return true;
	diag_error_in(s, DIAG_COST_GRAPH_INVALID, m->g->path,
		      "the times add up to more than can be counted (%.0f s or "
		      "more)",
		      ns * 1e-9);
	return false;
}

/* The same for the bytes that operators keep all the time. */
static bool bytes_fit(diag_sink *s, const machine *m)
{
	double nbytes = 0;
	for (int v = 0; v < m->g->nops; v++)
		nbytes += (double)m->resident[v];
	if (nbytes < MOST)
		return true;
	diag_error_in(s, DIAG_COST_GRAPH_INVALID, m->g->path,
		      "the operators keep more bytes than can be counted (%.0f "
		      "or more)", nbytes);
	return false;
}

static machine *with_graph(arena *a, diag_sink *s, const cost_graph *g,
			   const machine_request *r)
{
	machine *m = ARENA_NEW(a, machine);
	m->g = g;
	m->ndevices = r->ndevices;
	m->ports = !r->free_network;
	m->bandwidth = r->bandwidth;
	m->factor = r->factor;
	m->alike = !r->topology || r->topology->nkinds == 0;
	set_speeds(a, m, r->topology);
	set_memory(a, m, r);
	if (r->topology && !set_topology(a, s, m, r->topology))
		return NULL;
	if (!r->topology && r->bandwidth > 0) {
		m->move = ARENA_ARRAY(a, int64_t *, 1);
		set_level(a, m, r->latency, r->bandwidth);
	} else if (!r->topology && !set_file_costs(a, s, m)) {
		return NULL;
	}
	m->loads = m;
	return times_fit(s, m) && bytes_fit(s, m) ? m : NULL;
}

const machine *machine_new(arena *a, diag_sink *s, const cost_graph *g,
			   const machine_request *r)
{
	if (!has_devices(s, r->topology, r->ndevices))
		return NULL;
	machine *m = with_graph(a, s, g, r);
	if (m && g->file != g)
		m->loads = with_graph(a, s, g->file, r);
	return m && m->loads ? m : NULL;
}

double machine_link_bandwidth(const machine_request *r)
{
	const topology *t = r->topology ? r->topology : topology_preset(0);
	double least = INFINITY;
	int64_t span = 1;
	if (r->bandwidth > 0)
		return r->bandwidth;
	for (int i = t->nlevels; i-- > 0 && span <= r->ndevices;) {
		const topology_level *l = &t->levels[i];
		least = fmin(least, topology_level_bandwidth(l));
		span *= l->size ? l->size : r->ndevices;
		if (span >= r->ndevices)
			break;
	}
	return least;
}
