/* Reads an ONNX model: versions, inputs, initializers, outputs. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "compiler/graph/carry.h"
#include "compiler/model/eval.h"
#include "compiler/onnx/onnx_import.h"
#include "compiler/train/train.h"

enum {
	DIM_IS_NUMBER = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE,
	DIM_IS_NAMED = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM,
};
enum { MIN_IR_VERSION = 3, MAX_IR_VERSION = 99, MAX_SYMBOLS = 64 };

/* ---- versions ---------------------------------------------------------- */

static bool set_opsets(importer *im, onnx_frame *f)
{
	const Onnx__ModelProto *m = im->model;
	onnx_opset *o = ARENA_ARRAY(im->tmp, onnx_opset, m->n_opset_import + 1);
	for (size_t i = 0; i < m->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *id = m->opset_import[i];
		const char *d = id->domain ? id->domain : "";
		if (!strcmp(d, "ai.onnx"))
			d = "";
		if (id->version < 1 || id->version > INT32_MAX) {
			diag_error_in(im->sink, DIAG_ONNX_VERSION, im->path,
				      "version %" PRId64
				      " of the operator set '%s'",
				      id->version, d);
			return false;
		}
		if (!*d && id->version > ONNX_MAX_OPSET)
			diag_warning_in(im->sink, DIAG_ONNX_VERSION, im->path,
					"the operator set %" PRId64
					" is newer than %d, the last one known",
					id->version, ONNX_MAX_OPSET);
		o[i] = (onnx_opset){ d, (int)id->version };
	}
	f->opsets = o;
	f->nopsets = (int)m->n_opset_import;
	return true;
}

static bool check_model(importer *im)
{
	const Onnx__ModelProto *m = im->model;
	if (!m->has_ir_version || m->ir_version < MIN_IR_VERSION ||
	    m->ir_version > MAX_IR_VERSION) {
		diag_error_in(im->sink, DIAG_ONNX_VERSION, im->path,
			      "IR version %" PRId64 ", %d or later is needed",
			      m->ir_version, MIN_IR_VERSION);
		return false;
	}
	if (!m->graph)
		diag_error_in(im->sink, DIAG_ONNX_MALFORMED, im->path,
			      "the model has no graph");
	return m->graph != NULL;
}

/* ---- shapes of inputs -------------------------------------------------- */

/* Finds the value given for a symbolic dimension with -D or --carry-length. */
static bool find_size(const importer *im, const char *name, int64_t *v)
{
	const model_options *o = im->options;
	if (im->length && !strcmp(im->length, name)) {
		*v = o->carry->length;
		return true;
	}
	for (int i = 0; i < o->nsizes; i++)
		if (!strcmp(o->size_names[i], name)) {
			o->size_used[i] = true;
			*v = o->sizes[i];
			return true;
		}
	return false;
}

static const tensor_type *find_shape(const model_options *o, const char *name)
{
	const tensor_type *t = NULL;
	for (int i = 0; i < o->nshapes; i++)
		if (!strcmp(o->shape_names[i], name)) {
			o->shape_used[i] = true;
			t = &o->shapes[i];
		}
	return t;
}

static bool symbolic(importer *im, const char *place, const char *input,
		     const Onnx__TensorShapeProto *s)
{
	const char *how = NULL;
	for (size_t d = 0; d < s->n_dim && d < MAX_SYMBOLS; d++) {
		const Onnx__TensorShapeProto__Dimension *dim = s->dim[d];
		int64_t v;
		if ((int)dim->value_case != DIM_IS_NAMED || !*dim->dim_param ||
		    find_size(im, dim->dim_param, &v))
			continue;
		how = arena_printf(im->tmp, "%s%s%s %s=N", how ? how : "",
				   how ? " " : "", diag_option(im->sink, "D"),
				   dim->dim_param);
	}
	diag_error_in(im->sink, DIAG_SYMBOLIC_SIZE, place,
		      "the shape is not fixed; give its sizes with %s%s"
		      "%s %s=AxB..",
		      how ? how : "", how ? ", or the whole with " : "",
		      diag_option(im->sink, "shape"), input);
	return false;
}

/* The declared shape with the sizes given with -D.  Returns false if one is not
 * known. */
static bool declared_dims(importer *im, const Onnx__TensorShapeProto *s,
			  int64_t *dims)
{
	bool known = true;
	for (size_t d = 0; d < s->n_dim; d++) {
		const Onnx__TensorShapeProto__Dimension *dim = s->dim[d];
		if ((int)dim->value_case == DIM_IS_NUMBER)
			dims[d] = dim->dim_value;
		else if ((int)dim->value_case != DIM_IS_NAMED ||
			 !find_size(im, dim->dim_param,
				     &dims[d]))
			known = false;
	}
	return known;
}

static bool replaced_type(importer *im, const char *place, dtype t,
			  const Onnx__TensorShapeProto *s,
			  const tensor_type *given, tensor_type *type)
{
	if (s && s->n_dim != (size_t)given->ndim) {
		diag_error_in(im->sink, DIAG_SHAPE_OPTION, place,
			      "%s gives %d dimension%s, the model declares "
			      "%zu", diag_option(im->sink, "shape"),
			      given->ndim, given->ndim == 1 ? "" : "s",
			      s->n_dim);
		return false;
	}
	return onnx_dims(im, given->dims, (size_t)given->ndim, t, place, type);
}

/* The only symbolic dimension without a size in an input's shape; otherwise
 * NULL. */
static const char *only_open(const importer *im, const Onnx__ValueInfoProto *v)
{
	const char *open = NULL;
	const Onnx__TypeProto *p = v->type;
	if (!p || p->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
	    !p->tensor_type->shape || find_shape(im->options, v->name))
		return NULL;
	const Onnx__TensorShapeProto *s = p->tensor_type->shape;
	for (size_t d = 0; d < s->n_dim; d++) {
		const Onnx__TensorShapeProto__Dimension *dim = s->dim[d];
		int64_t size;
		if ((int)dim->value_case != DIM_IS_NAMED || !*dim->dim_param ||
		    find_size(im, dim->dim_param, &size))
			continue;
		if (open && strcmp(open, dim->dim_param) != 0)
			return NULL;
		open = dim->dim_param;
	}
	return open;
}

/* Finds the dimension of carried inputs for --carry-length. */
static void find_length(importer *im, const Onnx__GraphProto *g)
{
	const carry_options *o = im->options->carry;
	for (size_t i = 0; o && o->length && i < g->n_input; i++) {
		const Onnx__ValueInfoProto *v = g->input[i];
		if (!im->length && v->name && carry_takes(o, v->name))
			im->length = only_open(im, v);
	}
}

bool onnx_declared_type(importer *im, const Onnx__ValueInfoProto *v,
			const char *place, tensor_type *type)
{
	const Onnx__TypeProto *p = v->type;
	if (!p || p->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
		diag_error_in(im->sink, DIAG_ONNX_TYPE, place,
			      p ? "only tensors can be inputs"
				: "the input has no type");
		return false;
	}
	dtype t = mapping_onnx_type(p->tensor_type->elem_type);
	if (t == DT_NONE) {
		diag_error_in(im->sink, DIAG_ONNX_TYPE, place,
			      "tdlc does not have the element type %d",
			      p->tensor_type->elem_type);
		return false;
	}
	const Onnx__TensorShapeProto *s = p->tensor_type->shape;
	const tensor_type *given = find_shape(im->options, v->name);
	if (given)
		return replaced_type(im, place, t, s, given, type);
	if (!s) {
		static const Onnx__TensorShapeProto none = { .n_dim = 0 };
		return symbolic(im, place, v->name, &none);
	}
	int64_t *dims = ARENA_ARRAY(im->tmp, int64_t, s->n_dim + 1);
	if (!declared_dims(im, s, dims))
		return symbolic(im, place, v->name, s);
	return onnx_dims(im, dims, s->n_dim, t, place, type);
}

/* ---- the graph --------------------------------------------------------- */

static bool add_input(importer *im, onnx_frame *f,
		      const Onnx__ValueInfoProto *v)
{
	if (!v->name || !*v->name) {
		diag_error_in(im->sink, DIAG_ONNX_NAME, im->path,
			      "an input has no name");
		return false;
	}
	const char *place = onnx_place(im, "input", v->name, NULL);
	tensor_type type;
	onnx_value value = { .v.kind = MV_BAD };
	if (onnx_declared_type(im, v, place, &type)) {
		tensor_id t = graph_add_input(im->b, v->name, &type);
		const Onnx__TensorShapeProto *s = v->type->tensor_type->shape;
		if (s && s->n_dim > 0 && type.ndim > 0 &&
		    (int)s->dim[0]->value_case == DIM_IS_NAMED)
			graph_set_batch(im->b, t, 0);
		value.v = mv_tensor(t);
	}
	return onnx_bind(im, f, v->name, value, place);
}

/* Whether an initializer is a weight.  A single number is a scale, a limit or
 * an exponent, unless it is named among those to be trained. */
static bool is_weight(const importer *im, const char *name,
		      const tensor_type *type)
{
	const weight_globs *numbers = im->options->numbers;
	if (!dtype_is_float(type->type))
		return false;
	bool named = numbers && weight_globs_match(numbers, name);
	return type->ndim > 0 || named;
}

static tensor_id add_initializer(importer *im, const char *name,
				 const tensor_type *type, const constant *c)
{
	return is_weight(im, name, type)
		       ? graph_add_weight(im->b, name, type, c)
	       : dtype_is_float(type->type)
		       ? graph_add_number(im->b, name, type, c)
		       : graph_add_constant(im->b, name, type, c);
}

bool onnx_initializers(importer *im, onnx_frame *f, const Onnx__GraphProto *g)
{
	bool ok = true;
	if (g->n_sparse_initializer > 0) {
		diag_error_in(im->sink, DIAG_ONNX_TYPE, im->path,
			      "sparse initializers are not supported");
		ok = false;
	}
	for (size_t i = 0; i < g->n_initializer && !diag_full(im->sink) &&
			   !onnx_exhausted(im);
	     i++) {
		const Onnx__TensorProto *t = g->initializer[i];
		const char *name = t->name ? t->name : "";
		const char *place =
			onnx_place(im, "initializer", name, NULL);
		tensor_type type;
		constant c;
		onnx_value v = { .v.kind = MV_BAD };
		bool known = onnx_tensor(im, t, place, &type, &c);
		onnx_charge(im, known && c.data && !c.fill
					? (size_t)tensor_nbytes(&type)
					: strlen(place));
		if (known)
			v.v = mv_tensor(add_initializer(im, name, &type, &c));
		ok &= v.v.kind == MV_TENSOR;
		ok &= onnx_bind(im, f, name, v, place);
	}
	return ok;
}

/* An input that is also an initializer is a constant, as IR 3 requires. */
static bool add_inputs(importer *im, onnx_frame *f, const Onnx__GraphProto *g)
{
	bool ok = onnx_initializers(im, f, g);
	find_length(im, g);
	strmap *constants = strmap_new(im->tmp);
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name)
			strmap_put(constants, g->initializer[i]->name,
				   g->initializer[i]);
	for (size_t i = 0; i < g->n_input && !diag_full(im->sink); i++) {
		const char *name = g->input[i]->name;
		if (!name || !strmap_get(constants, name))
			ok &= add_input(im, f, g->input[i]);
	}
	return ok;
}

static bool same_shape(const Onnx__TensorShapeProto *s, const tensor_type *t)
{
	bool same = s->n_dim == (size_t)t->ndim;
	for (size_t d = 0; same && d < s->n_dim; d++)
		same = (int)s->dim[d]->value_case != DIM_IS_NUMBER ||
		       s->dim[d]->dim_value == t->dims[d];
	return same;
}

/* Whether a tensor may have been computed with another type than declared
 * because --precision asks for short floats. */
static bool is_converted(const importer *im, dtype declared, dtype computed)
{
	const train_options *o = im->options->train;
	return o && o->precision && dtype_is_float(declared) &&
	       dtype_is_float(computed);
}

/* Compares the declared type with that of the node's result.  A difference gets
 * only a warning, as the declared type is not used. */
static void check_declared(importer *im, const onnx_frame *f,
			   const Onnx__ValueInfoProto *v)
{
	const onnx_value *x = v->name ? onnx_find(f, v->name) : NULL;
	if (!x || x->v.kind != MV_TENSOR || !v->type ||
	    v->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
		return;
	const Onnx__TypeProto__Tensor *declared = v->type->tensor_type;
	const tensor_type *t = graph_type(im->b, (tensor_id)x->v.i);
	const char *place = onnx_place(im, "tensor", v->name, NULL);
	dtype type = mapping_onnx_type(declared->elem_type);
	if (declared->elem_type && type != t->type &&
	    !is_converted(im, type, t->type))
		diag_warning_in(im->sink, DIAG_TYPE_DISAGREES, place,
				"the model declares another element type than "
				"the computed one, %s", dtype_name(t->type));
	if (declared->shape && !im->options->nshapes &&
	    !same_shape(declared->shape, t))
		diag_warning_in(im->sink, DIAG_SHAPE_DISAGREES, place,
				"the model declares another shape than the "
				"computed one, %s",
				tensor_type_text(im->tmp, t));
}

/* Reads notes of PyTorch's exporter about an initializer that it computed from
 * others, whose names are lost. */
static void note_folded(importer *im, const onnx_frame *f,
			const Onnx__ValueInfoProto *v)
{
	const onnx_value *x = v->name ? onnx_find(f, v->name) : NULL;
	if (!x || x->v.kind != MV_TENSOR ||
	    !graph_tensor(im->b, (tensor_id)x->v.i)->parameter)
		return;
	for (size_t i = 0; i < v->n_metadata_props; i++) {
		const Onnx__StringStringEntryProto *p = v->metadata_props[i];
		if (p->key && p->value &&
		    !strcmp(p->key, "pkg.onnxscript.optimizer.folded_from"))
			graph_set_folded(im->b, (tensor_id)x->v.i, p->value);
	}
}

static void add_output(importer *im, const onnx_frame *f,
		       const Onnx__ValueInfoProto *v, strmap *seen)
{
	const char *name = v->name ? v->name : "";
	const char *place = onnx_place(im, "output", name, NULL);
	const onnx_value *x = onnx_find(f, name);
	if (!x)
		diag_error_in(im->sink, DIAG_ONNX_NAME, place,
			      "the output is defined nowhere");
	else if (strmap_get(seen, name))
		diag_error_in(im->sink, DIAG_ONNX_NAME, place,
			      "the output is listed twice");
	else if (x->v.kind == MV_TENSOR)
		graph_set_output(im->b, (tensor_id)x->v.i, name);
	else if (x->v.kind == MV_NULL && !im->options->survey)
		diag_error_in(im->sink, DIAG_UNSUPPORTED, place,
			      "the output is not known: %s",
			      x->why ? x->why : "there is none");
	else if (x->v.kind == MV_LIST && !im->options->survey)
		diag_error_in(im->sink, DIAG_UNSUPPORTED, place,
			      "the output is a sequence; only tensors can be "
			      "outputs");
	strmap_put(seen, name, im);
}

static void say_missing(importer *im)
{
	for (int i = 0; i < strmap_count(im->missing); i++) {
		const onnx_missing *m = strmap_value(im->missing, i);
		diag_error_in(im->sink, DIAG_MISSING_OPERATOR, m->place,
			      "tdlc has no '%s' of opset %d, which the model "
			      "uses %d time%s",
			      m->op, m->opset, m->count,
			      m->count == 1 ? "" : "s");
		diag_note(im->sink, NOWHERE,
			  "an entry onnx %s%s%s\"%s\" in a file given with "
			  "%s, or in opdefs/onnx/, would map it to operators",
			  *m->domain ? "\"" : "", m->domain,
			  *m->domain ? "\" " : "", m->type,
			  diag_option(im->sink, "load"));
	}
}

static void import_graph(importer *im, onnx_frame *f)
{
	const Onnx__GraphProto *g = im->model->graph;
	bool ok = add_inputs(im, f, g);
	ok &= onnx_nodes(im, f, g->node, g->n_node);
	if (!im->options->survey)
		say_missing(im);
	if (g->n_output == 0)
		diag_error_in(im->sink, DIAG_ONNX_MALFORMED, im->path,
			      "the graph has no outputs");
	strmap *seen = strmap_new(im->tmp);
	for (size_t i = 0; i < g->n_value_info; i++) {
		check_declared(im, f, g->value_info[i]);
		note_folded(im, f, g->value_info[i]);
	}
	ok |= im->options->survey != NULL;
	for (size_t i = 0; ok && i < g->n_output; i++) {
		check_declared(im, f, g->output[i]);
		add_output(im, f, g->output[i], seen);
	}
	if (im->options->survey)
		onnx_survey_keep(im);
}

/* ---- with the shapes that the model itself declares -------------------- */

static void keep_types(importer *im, const importer *from,
		       const onnx_frame *f)
{
	im->before = strmap_new(im->tmp);
	for (int i = 0; i < strmap_count(f->values); i++) {
		const onnx_value *v = strmap_value(f->values, i);
		if (v->v.kind != MV_TENSOR)
			continue;
		strmap_put(im->before,
			   arena_strdup(im->tmp, strmap_key(f->values, i)),
			   ARENA_COPY(im->tmp, graph_type(from->b,
						 (tensor_id)v->v.i), 1));
	}
}

/* Imports the model unchanged, only for its tensors' types: rebatched()
 * compares with them.  Errors of that import are ignored. */
static void import_before(importer *im, const onnx_frame *f)
{
	importer plain = *im;
	arena *a = arena_new();
	model_options o = *im->options;
	bool *used = ARENA_ARRAY(a, bool, o.nsizes + 1);
	o.nshapes = 0;
	o.survey = NULL;
	o.size_used = used;
	onnx_frame frame = *f;
	plain.arena = plain.tmp = a;
	plain.sink = diag_sink_new(a);
	plain.options = &o;
	plain.missing = strmap_new(a);
	plain.b = graph_begin(a, im->modules, plain.sink, "");
	frame.values = strmap_new(a);
	import_graph(&plain, &frame);
	keep_types(im, &plain, &frame);
	graph_finish(plain.b);
	arena_free(a);
}

/* ---- the model --------------------------------------------------------- */

/* "models/x.onnx" -> "x" */
static const char *model_name(arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot && dot > base ? arena_strndup(a, base, (size_t)(dot - base))
				 : arena_strdup(a, base);
}

static graph *import_model(importer *im)
{
	onnx_frame f = { .prefix = "", .values = strmap_new(im->tmp) };
	im->missing = strmap_new(im->tmp);
	im->model = onnx_file_unpack(im->tmp, im->sink, &im->file);
	if (!im->model || !check_model(im) || !set_opsets(im, &f))
		return NULL;
	if (im->options->nshapes > 0)
		import_before(im, &f);
	im->b = graph_begin(im->arena, im->modules, im->sink,
			    model_name(im->tmp, im->path));
	graph_set_site(im->b, (call_site){ .place = im->path });
	if (im->options->train)
		graph_record(im->b, im->options->train);
	import_graph(im, &f);
	if (im->options->carry &&
	    !graph_carry(im->b, im->options->carry))
		return graph_finish(im->b);
	if (im->options->train)
		graph_train(im->b);
	else
		graph_free_weights(im->b);
	return graph_finish(im->b);
}

static void close_file(void *f)
{
	onnx_file_close(f);
}

graph *onnx_import(arena *a, tdl_modules *m, diag_sink *s,
		   const char *path, const model_options *o)
{
	importer im = { .arena = a, .tmp = arena_new(), .modules = m,
			.sink = s, .path = path, .options = o };
	graph *g = NULL;
	const dsl_text *given = dsl_text_of(m, path);
	im.file = (onnx_file){ .path = path };
	if (given) {
		im.file.data = (const uint8_t *)given->text;
		im.file.size = given->len;
	}
	if (given || onnx_file_open(im.tmp, s, path, &im.file)) {
		memory_guard mapping;
		memory_guard_on(&mapping, close_file, &im.file);
		g = import_model(&im);
		memory_guard_off(&mapping);
		onnx_file_close(&im.file);
	}
	arena_free(im.tmp);
	return g;
}

graph *model_import(arena *a, tdl_modules *m, diag_sink *s, const char *path,
		    const model_options *o)
{
	return model_is_tdl(path) ? model_read_tdl(a, m, s, path, o)
				  : onnx_import(a, m, s, path, o);
}
