#include "config.h"

#include "compiler/cost/topology.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/cost/assignment.h"
#include "compiler/cost/profiled.h"
#include "layout/mesh.h"

/* ---- presets ----------------------------------------------------------- */

/* FLOP/s on f64, on f32 and integers, on floats of 16 and of 8 bits. */
#define RATES(d, f, h, q) \
	{ [DT_F64] = d, [DT_F32] = f, [DT_F16] = h, [DT_BF16] = h, \
	  [DT_I64 ... DT_BOOL] = f, [DT_F8E4M3FN ... DT_F8E8M0] = q, \
	  [DT_F6E2M3 ... DT_COUNT - 1] = f }

/* A core of a common server, with shared memory as the network; round numbers.
 * It copies what it receives itself. */
static const topology cpu = {
	.name = "cpu",
	.device = "a core",
	.bandwidth = 10e9,
	.flops = RATES(20e9, 20e9, 20e9, 20e9),
	.nlevels = 1,
	.levels = { { "memory", 0, 5e-6, 5e9 } },
};

/* Amazon's p2.8xlarge, on which Tofu was measured: halves of K80s behind PCIe
 * switches, 21 GB/s peer to peer. */
static const topology k80 = {
	.name = "8xk80",
	.device = "half a Tesla K80",
	.memory = (int64_t)12 << 30,
	.bandwidth = 240e9,
	.launch = 5e-6,
	.flops = RATES(1.4e12, 4.1e12, 4.1e12, 4.1e12),
	.overlap = true,
	.nlevels = 1,
	.levels = { { "PCIe", 8, 10e-6, 21e9 } },
};

#define H100 \
	.device = "H100 SXM", .memory = (int64_t)80 << 30, \
	.bandwidth = 3.35e12, .launch = 3e-6, \
	.flops = RATES(34e12, 67e12, 989e12, 1979e12), .overlap = true

static const topology h100 = {
	.name = "8xh100-nvlink",
	H100,
	.nlevels = 1,
	.levels = { { "NVLink", 8, 3e-6, 450e9 } },
};

static const topology two_h100 = {
	.name = "2x8xh100",
	H100,
	.nlevels = 2,
	.levels = { { "InfiniBand", 2, 8e-6, 50e9 },
		    { "NVLink", 8, 3e-6, 450e9 } },
};

static const topology many_h100 = {
	.name = "h100-cluster",
	H100,
	.nlevels = 2,
	.levels = { { "InfiniBand", 0, 8e-6, 50e9 },
		    { "NVLink", 8, 3e-6, 450e9 } },
};

const topology *topology_preset(int i)
{
	static const topology *const all[] = { &cpu, &k80, &h100, &two_h100,
					       &many_h100, NULL };
	return all[i];
}

/* ---- the mesh ---------------------------------------------------------- */

/* The number of parts of each level that k devices use, from the innermost
 * level on. */
static bool fill_levels(const topology *t, int k, int *used)
{
	for (int i = t->nlevels; i-- > 0;) {
		int size = t->levels[i].size ? t->levels[i].size : k;
		used[i] = k < size ? k : size;
		if (k % used[i])
			return false;
		k /= used[i];
	}
	return k == 1;
}

const char *topology_sizes(arena *a, const topology *t)
{
	int64_t n = t->levels[t->nlevels - 1].size;
	const char *text = n ? arena_printf(a, "it has up to %d", (int)n)
			     : "it has any number";
	for (int i = t->nlevels - 1; i-- > 0 && n <= MESH_MAX_WORKERS;) {
		int size = t->levels[i].size;
		text = size ? arena_printf(a, "%s, and multiples of %" PRId64
					   " up to %" PRId64, text, n,
					   n * size)
			    : arena_printf(a, "%s, and multiples of %" PRId64,
					   text, n);
		n *= size;
	}
	return text;
}

bool topology_mesh(const topology *t, int k, mesh *m)
{
	int used[MAX_AXES];
	if (!fill_levels(t, k, used))
		return false;
	m->naxes = 0;
	for (int i = 0; i < t->nlevels; i++)
		m->naxes += mesh_factors(used[i], m->size + m->naxes);
	return true;
}

void topology_levels(const topology *t, const mesh *m, int *levels)
{
	int used[MAX_AXES] = { 0 }, level = 0;
	int64_t left, taken = 1;
	fill_levels(t, mesh_workers(m), used);
	left = used[0];
	for (int i = 0; i < m->naxes; i++) {
		while (taken >= left && level + 1 < t->nlevels)
			left *= used[++level];
		levels[i] = level;
		taken *= m->size[i];
	}
}

/* ---- times ------------------------------------------------------------- */

/* The bytes that a collective brings each device over level i, relative to
 * those that the device finally keeps from there.  A collective goes level by
 * level, the outermost first, and a device passes the bytes of one level on
 * over the levels within.  So each device brings only its share of what all
 * devices in its part of the machine need, but passes on the bytes of the
 * levels before as well. */
static double ring_share(const topology *t, const topology_move *m, int i)
{
	double share = 1;
	for (int j = 0; j < t->nlevels; j++)
		if (j < i)
			share *= m->peers[j];
		else if (j > i)
			share /= m->peers[j];
	return share;
}

static double slowed(const topology *t, double seconds)
{
	return t->crowded > 1 ? seconds * t->crowded : seconds;
}

/* The curve of a collective; if it was not measured, that of a similar one;
 * NULL if there is none. */
static const measured_transfer *measured_of(const topology_level *l,
					    const topology_move *m)
{
	const measured_transfer *x = l->measured[m->collective];
	if (!x)
		x = l->measured[m->ring ? COLL_ALL_GATHER : COLL_SEND_RECEIVE];
	return x ? x : l->measured[COLL_ALL_GATHER];
}

/* Seconds over a level that was measured.  A ring of more devices than were
 * measured has proportionally more messages.  Never less than the level's
 * bandwidth allows. */
static double level_seconds(const topology *t, const topology_level *l,
			    const measured_transfer *x,
			    const topology_move *m, int i, double bytes)
{
	double s = curve_seconds(&x->curve, bytes);
	if (m->ring && m->peers[i] > x->devices)
		s += l->latency * (m->peers[i] - x->devices);
	double least = bytes / topology_level_bandwidth(l);
	return slowed(t, s > least ? s : least);
}

void topology_move_bytes(const topology *t, const topology_move *m,
			 double *bytes)
{
	for (int i = 0; i < t->nlevels; i++)
		bytes[i] = m->ring ? m->bytes[i] * ring_share(t, m, i)
				   : m->bytes[i];
}

/* In a ring messages follow each other, one fewer than there are peers.
 * Messages side by side wait for one latency, the longest. */
double topology_move_seconds(const topology *t, const topology_move *m)
{
	double slowest = 0, latency = 0, bytes[MAX_AXES];
	topology_move_bytes(t, m, bytes);
	for (int i = 0; i < t->nlevels; i++) {
		const topology_level *l = &t->levels[i];
		const measured_transfer *x = measured_of(l, m);
		double wait = m->peers[i] > 1 && !x ? l->latency : 0;
		if (m->ring)
			latency += wait * (m->peers[i] - 1);
		else
			latency = wait > latency ? wait : latency;
		double s = bytes[i] / topology_level_bandwidth(l);
		if (x && m->peers[i] > 1)
			s = level_seconds(t, l, x, m, i, bytes[i]);
		if (s > slowest)
			slowest = s;
	}
	return latency + slowest;
}

topology_move topology_move_of(collective c)
{
	topology_move m = {
		.ring = c == COLL_ALL_GATHER || c == COLL_REDUCE_SCATTER,
		.collective = c,
	};
	for (int i = 0; i < MAX_AXES; i++)
		m.peers[i] = 1;
	return m;
}

/* A copy reads and writes its bytes. */
double topology_copy_seconds(const topology *t, double bytes)
{
	if (!t->now || bytes <= 0)
		return bytes / t->bandwidth;
	return slowed(t, curve_seconds(&t->now->memory, 2 * bytes));
}

int topology_part(const topology *t, int level)
{
	int64_t n = 1;
	for (int i = level + 1; i < t->nlevels && n < MESH_MAX_WORKERS; i++)
		n *= t->levels[i].size;
	return n < MESH_MAX_WORKERS ? (int)n : MESH_MAX_WORKERS;
}

void topology_share(topology *t, int k)
{
	for (int i = 0; i < t->nlevels; i++) {
		int part = topology_part(t, i);
		t->levels[i].sharers = k < part ? k : part;
	}
}

double topology_level_bandwidth(const topology_level *l)
{
	double each = l->shared / (l->sharers > 1 ? l->sharers : 1);
	return l->shared > 0 && each < l->bandwidth ? each : l->bandwidth;
}

static bool shares(const topology *t)
{
	for (int i = 0; i < t->nlevels; i++)
		if (t->levels[i].shared > 0)
			return true;
	return false;
}

const topology *topology_of(arena *a, const topology *t, int k)
{
	if (t->nmeasured == 0 && !t->profiled && !shares(t))
		return t;
	topology *own = ARENA_COPY(a, t, 1);
	int i = 0;
	topology_share(own, k);
	own->at_work = k;
	if (t->nmeasured == 0)
		return own;
	while (i + 1 < t->nmeasured && t->measured[i].devices < k)
		i++;
	own->now = &t->measured[i];
	own->crowded = 1;
	if (own->now->devices < k && t->processors > 0 && k > t->processors)
		own->crowded = (double)k / t->processors;
	return own;
}

static double roofline(const topology *t, dtype type, double flops,
		       double bytes)
{
	double compute = flops / t->flops[type], move = bytes / t->bandwidth;
	double longest = compute > move ? compute : move;
	return longest > t->launch ? longest : t->launch;
}

/* The longer of the times for its arithmetic, by its class, and for its bytes.
 * An infinite bandwidth is used in bounds: bytes then take no time. */
double topology_load_seconds(const topology *t, dtype type,
			     const kernel_form *f, const kernel_load *l,
			     const kernel_work *w)
{
	double move = 0;
	if (!t->now || !f)
		return roofline(t, type, w->flops, w->bytes);
	double s = measured_kernel_seconds(t->now, f, l);
	if (s == 0)
		s = roofline(t, type, w->flops, 0);
	if (isfinite(t->bandwidth))
		move = curve_seconds(&t->now->memory, w->bytes);
	return slowed(t, s > move ? s : move);
}

double topology_form_seconds(const topology *t, const kernel *k,
			     const kernel_form *f, const box *part,
			     const kernel_work *w, double share,
			     time_source *source)
{
	const kernel_work own = { w->flops * share, w->bytes * share };
	kernel_load l = { 0 };
	double exact = 0, times = 0;
	if (t->now && f)
		l = kernel_load_of(k, f, part);
	l.work *= share;
	if (t->profiled && f)
		times = profiled_kernel(t->profiled, f->structure, part,
					k->nvars, t->at_work, &exact);
	if (share < 1)
		exact = 0;
	if (source)
		*source = exact > 0  ? TIME_MEASURED
			  : times > 0 ? TIME_INTERPOLATED
				     : TIME_MODELLED;
	if (exact > 0)
		return slowed(t, exact);
	double s = topology_load_seconds(t, k->type, f, &l, &own);
	return times > 0 ? times * s : s;
}

double topology_kernel_seconds(const topology *t, const kernel *k,
			       const box *part, const kernel_work *w,
			       double share)
{
	if (!topology_asks_form(t))
		return topology_form_seconds(t, k, NULL, part, w, share, NULL);
	const kernel_form f = kernel_form_of(k);
	return topology_form_seconds(t, k, &f, part, w, share, NULL);
}

const char *time_source_name(time_source s)
{
	static const char *const names[] = {
		[TIME_MODELLED] = "modelled",
		[TIME_INTERPOLATED] = "interpolated",
		[TIME_MEASURED] = "measured",
	};
	return names[s];
}
