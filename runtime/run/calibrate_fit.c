/* Curves of the measurements, and the topology that they give. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/curve.h"
#include "runtime/run/calibrate.h"

/* ---- curves ------------------------------------------------------------ */

static int by_size(const void *x, const void *y)
{
	double a = ((const fitted_point *)x)->size;
	double b = ((const fitted_point *)y)->size;
	return (a > b) - (a < b);
}

/* Points [begin, end) joined into one. */
static fitted_point joined(const fitted_point *at, int begin, int end,
			   bool least)
{
	double size = 0, seconds = 0;
	fitted_point p = at[begin];
	for (int i = begin; i < end; i++) {
		size += log(at[i].size);
		seconds += log(at[i].seconds);
		p.seconds = fmin(p.seconds, at[i].seconds);
		p.spread = fmax(p.spread, at[i].spread);
	}
	p.size = exp(size / (end - begin));
	if (!least)
		p.seconds = exp(seconds / (end - begin));
	return p;
}

/* Makes the points of a curve.  Sizes increase; sizes within a factor of 1.5
 * become one point, with their least seconds or their geometric mean.  Seconds
 * do not decrease: a point that takes longer than a larger one was
 * disturbed. */
static void fit_curve(arena *a, fitted_curve *c, bool least)
{
	const double near = 1.5;
	fitted_curve to = { 0 };
	if (c->n > 1)
		qsort(c->at, (size_t)c->n, sizeof(*c->at), by_size);
	for (int i = 0, end; i < c->n; i = end) {
		end = i + 1;
		while (end < c->n && c->at[end].size <= near * c->at[i].size)
			end++;
		vec_push(a, &to, joined(c->at, i, end, least));
	}
	for (int i = to.n - 1; i-- > 0;)
		to.at[i].seconds = fmin(to.at[i].seconds,
					to.at[i + 1].seconds);
	*c = to;
}

/* The curve in the form that predictions use. */
static curve curve_of(arena *a, const fitted_curve *c)
{
	curve_point *at = ARENA_ARRAY(a, curve_point, c->n);
	for (int i = 0; i < c->n; i++)
		at[i] = (curve_point){ c->at[i].size, c->at[i].seconds };
	return (curve){ c->n, at };
}

/* ---- a device ---------------------------------------------------------- */

/* The short side of a product, if it is much shorter than both others. */
static int64_t short_side(const calibrated *x, kernel_side *side)
{
	enum { SHORTER = 2 };
	double others = INFINITY;
	*side = kernel_least_side(&x->load);
	for (int s = 0; s < KERNEL_SIDES; s++)
		if (s != (int)*side)
			others = fmin(others, x->load.extent[s]);
	bool is_short = x->form.side[SIDE_DEPTH] != 0 &&
			SHORTER * x->load.extent[*side] <= others;
	return is_short ? (int64_t)x->load.extent[*side] : 0;
}

static fitted_kernels *kernels_of(arena *a, fitted_device *d,
				  const calibrated *x)
{
	kernel_side side;
	int64_t least = short_side(x, &side);
	for (int i = 0; i < d->kernels.n; i++) {
		fitted_kernels *k = &d->kernels.at[i];
		if (k->class == x->form.class && k->type == x->form.type &&
		    k->least == least && (least == 0 || k->side == side))
			return k;
	}
	const fitted_kernels new = { .class = x->form.class,
				     .type = x->form.type,
				     .side = side,
				     .least = least };
	vec_push(a, &d->kernels, new);
	return &d->kernels.at[d->kernels.n - 1];
}

/* Whether a kernel dominated by bytes has many operations per byte. */
static bool is_dense(const calibrated *x)
{
	return x->form.class == KERNEL_ELEMENTWISE &&
	       x->load.work > x->work.bytes;
}

static bool has_dense(const calibration *all, dtype t)
{
	for (int i = 0; i < all->n; i++)
		if (!all->at[i].moves && all->at[i].form.type == t &&
		    is_dense(&all->at[i]))
			return true;
	return false;
}

/* Whether a kernel's time shows the arithmetic speed of its class.  An
 * elementwise kernel's time is that of its bytes, unless it has many operations
 * per byte or no other kernel of its type has.  Its operands have to be in a
 * cache as far as possible. */
static bool shows_arithmetic(const calibration *all, const calibrated *x)
{
	if (x->form.class != KERNEL_ELEMENTWISE)
		return true;
	return !x->cold && (is_dense(x) || !has_dense(all, x->form.type));
}

fitted_device fit_device(arena *a, const calibration *all, int devices)
{
	fitted_device d = { .devices = devices };
	for (int i = 0; i < all->n; i++) {
		const calibrated *x = &all->at[i];
		fitted_point p = { x->load.work, x->seconds, x->spread };
		if (x->moves || x->form.class == KERNEL_OPAQUE ||
		    x->load.count > 1)
			continue;
		if (shows_arithmetic(all, x))
			vec_push(a, &kernels_of(a, &d, x)->curve, p);
		p.size = x->work.bytes;
		if (x->form.class == KERNEL_ELEMENTWISE && !x->cold &&
		    !is_dense(x))
			vec_push(a, &d.memory, p);
	}
	fit_curve(a, &d.memory, false);
	for (int i = 0; i < d.kernels.n; i++) {
		fitted_kernels *k = &d.kernels.at[i];
		fit_curve(a, &k->curve, k->class == KERNEL_ELEMENTWISE);
	}
	return d;
}

/* ---- links ------------------------------------------------------------- */

fitted_links fit_links(arena *a, const calibration *all,
		       const fitted_device *copies, int devices)
{
	/* fraction of the time that a message takes */
	const double least = 0.05;
	fitted_links l = { .devices = devices };
	const curve memory = curve_of(a, &copies->memory);
	for (int i = 0; i < all->n; i++) {
		const calibrated *x = &all->at[i];
		if (!x->moves || x->received <= 0)
			continue;
		double copy = memory.n > 0
				      ? curve_seconds(&memory, 2 * x->written)
				      : 0;
		const fitted_point p = { x->received,
					 fmax(x->seconds - copy,
					      least * x->seconds),
					 x->spread };
		vec_push(a, &l.curves[x->collective], p);
	}
	for (int c = 0; c < COLL_COUNT; c++)
		fit_curve(a, &l.curves[c], false);
	return l;
}

/* ---- JSON -------------------------------------------------------------- */

/* To four digits; no measurement is more precise. */
static json_t *rounded(double x)
{
	double unit = x > 0 ? pow(10, floor(log10(x)) - 3) : 1;
	return json_real(round(x / unit) * unit);
}

static json_t *points_json(const fitted_curve *c)
{
	json_t *all = json_array();
	for (int i = 0; i < c->n; i++)
		json_array_append_new(
			all, json_pack("[o,o,o]", rounded(c->at[i].size),
				       rounded(c->at[i].seconds),
				       rounded(c->at[i].spread)));
	return all;
}

static json_t *kernels_json(const fitted_kernels *k)
{
	json_t *j = json_pack("{s:s,s:s}", "class", kernel_class_name(k->class),
			      "type", dtype_name(k->type));
	if (k->least > 0) {
		json_object_set_new(j, "side",
				    json_string(kernel_side_name(k->side)));
		json_object_set_new(j, "least",
				    json_integer((json_int_t)k->least));
	}
	json_object_set_new(j, "points", points_json(&k->curve));
	return j;
}

static json_t *devices_json(const fitted_machine *m)
{
	json_t *all = json_array();
	for (int i = 0; i < m->ndevices; i++) {
		const fitted_device *d = &m->devices[i];
		json_t *kernels = json_array();
		for (int k = 0; k < d->kernels.n; k++)
			json_array_append_new(kernels,
					      kernels_json(&d->kernels.at[k]));
		json_array_append_new(
			all, json_pack("{s:i,s:o,s:o}", "devices", d->devices,
				       "memory", points_json(&d->memory),
				       "kernels", kernels));
	}
	return all;
}

/* The greatest size per second of a curve, and its least seconds. */
static double fastest(const fitted_curve *c)
{
	double most = 0;
	for (int i = 0; i < c->n; i++)
		most = fmax(most, c->at[i].size / c->at[i].seconds);
	return most;
}

static double quickest(const fitted_curve *c, double most)
{
	return c->n > 0 ? fmin(most, c->at[0].seconds) : most;
}

/* FLOP/s by type: of the fastest products; of f32 at least that of any
 * kernel. */
static json_t *flops_json(const fitted_device *d)
{
	double best[DT_COUNT] = { 0 };
	json_t *j = json_object();
	for (int i = 0; i < d->kernels.n; i++) {
		const fitted_kernels *k = &d->kernels.at[i];
		if (k->class == KERNEL_PRODUCT)
			best[k->type] = fmax(best[k->type],
					     fastest(&k->curve));
	}
	for (int t = 0; t < DT_COUNT; t++)
		if (best[t] > 1)
			json_object_set_new(j, dtype_name((dtype)t),
					    rounded(best[t]));
	return j;
}

/* The description without curves: the best figures of devices that are all
 * busy. */
static json_t *device_json(const fitted_machine *m)
{
	const fitted_device *d = &m->devices[m->ndevices - 1];
	double launch = INFINITY;
	for (int i = 0; i < d->kernels.n; i++)
		launch = quickest(&d->kernels.at[i].curve, launch);
	return json_pack("{s:s,s:I,s:o,s:o,s:b,s:o}", "name", m->device,
			 "memory", (json_int_t)m->memory, "bandwidth",
			 rounded(fastest(&d->memory)), "launch",
			 rounded(launch), "overlap", 0, "flops",
			 flops_json(d));
}

double fitted_bandwidth(const fitted_links *l)
{
	double most = 0;
	for (int c = 0; c < COLL_COUNT; c++)
		most = fmax(most, fastest(&l->curves[c]));
	return most;
}

static json_t *transfers_json(const fitted_links *l)
{
	json_t *all = json_array();
	for (int c = 0; c < COLL_COUNT; c++) {
		const fitted_curve *x = &l->curves[c];
		if (x->n == 0)
			continue;
		json_array_append_new(
			all, json_pack("{s:s,s:i,s:o}", "collective",
				       collective_name((collective)c),
				       "devices", l->devices, "points",
				       points_json(x)));
	}
	return all;
}

/* A level that was not measured, on a machine of one device, is as fast as its
 * memory. */
static json_t *level_json(const fitted_machine *m, const fitted_level *l)
{
	double latency = INFINITY, bandwidth = fitted_bandwidth(&l->links);
	for (int c = 0; c < COLL_COUNT; c++)
		latency = quickest(&l->links.curves[c], latency);
	if (!l->measured)
		bandwidth = fastest(&m->devices[0].memory);
	json_t *j = json_pack("{s:s,s:o,s:o,s:o}", "name", l->name, "latency",
			      rounded(isfinite(latency) ? latency : 0),
			      "bandwidth", rounded(bandwidth), "transfers",
			      transfers_json(&l->links));
	if (l->size > 0)
		json_object_set_new(j, "size", json_integer(l->size));
	if (l->shared > 0)
		json_object_set_new(j, "shared", rounded(l->shared));
	return j;
}

static json_t *levels_json(const fitted_machine *m)
{
	json_t *all = json_array();
	for (int i = 0; i < m->nlevels; i++)
		json_array_append_new(all, level_json(m, &m->levels[i]));
	return all;
}

json_t *fitted_json(const fitted_machine *m)
{
	return json_pack("{s:s,s:i,s:s,s:s,s:i,s:o,s:o,s:o}", "format",
			 "tdl-topology", "version", 2, "name", m->name, "made",
			 m->maker, "processors", m->processors, "device",
			 device_json(m), "levels", levels_json(m), "measured",
			 devices_json(m));
}
