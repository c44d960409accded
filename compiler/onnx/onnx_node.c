/* Nodes: looks up inputs and attributes, and evaluates the node by an entry of
 * opdefs/onnx, a built-in or a function of the model. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <inttypes.h>
#include <string.h>


static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- attributes -------------------------------------------------------- */

const Onnx__AttributeProto *onnx_resolve(const onnx_frame *f,
					 const Onnx__AttributeProto *a)
{
	if (!*text(a->ref_attr_name))
		return a;
	for (int i = 0; i < f->nattrs; i++)
		if (!strcmp(text(f->attrs[i]->name), a->ref_attr_name))
			return f->attrs[i];
	return NULL;
}

const Onnx__AttributeProto *onnx_attr(const onnx_frame *f,
				      const Onnx__NodeProto *n,
				      const char *name)
{
	for (size_t i = 0; i < n->n_attribute; i++)
		if (!strcmp(text(n->attribute[i]->name), name))
			return onnx_resolve(f, n->attribute[i]);
	return NULL;
}

/* Strings of attributes are bytes.  One with a zero byte is cut there and gets
 * a space appended, so that it equals no string that an entry expects. */
static const char *bytes_text(importer *im, ProtobufCBinaryData b)
{
	onnx_charge(im, b.len);
	const char *s = arena_strndup(im->tmp, (const char *)b.data, b.len);
	return memchr(b.data ? b.data : (const uint8_t *)"", 0, b.len)
		       ? arena_printf(im->tmp, "%s ", s)
		       : s;
}

static attr_value list_value(attr_type type, bool is_list, size_t n)
{
	return (attr_value){ .type = type, .is_list = is_list, .n = (int)n };
}

/* The element type of a type; for a sequence or option that of its content. */
static int element_type(const Onnx__TypeProto *t)
{
	while (t)
		switch (t->value_case) {
		case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
			return t->tensor_type->elem_type;
		case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
			t = t->sequence_type->elem_type;
			break;
		case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
			t = t->optional_type->elem_type;
			break;
		default:
			return 0;
		}
	return 0;
}

/* The value for an entry; NULL for a kind that entries cannot declare. */
static const attr_value *attr_of(importer *im, const Onnx__AttributeProto *a)
{
	attr_value *v = ARENA_NEW(im->tmp, attr_value);
	double *floats = ARENA_ARRAY(im->tmp, double, a->n_floats + 1);
	const char **strings =
		ARENA_ARRAY(im->tmp, const char *, a->n_strings + 1);
	v->floats = floats;
	v->strings = strings;
	onnx_charge(im, (a->n_floats + a->n_strings) * sizeof(*floats));
	switch (a->has_type ? a->type : 0) {
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
		*v = list_value(ATTR_INT, false, 1);
		v->ints = ARENA_COPY(im->tmp, &a->i, 1);
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
		*v = list_value(ATTR_INT, true, a->n_ints);
		v->ints = a->ints;
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
		*v = list_value(ATTR_FLOAT, false, 1);
		floats[0] = (double)a->f;
		v->floats = floats;
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
		*v = list_value(ATTR_FLOAT, true, a->n_floats);
		for (size_t i = 0; i < a->n_floats; i++)
			floats[i] = (double)a->floats[i];
		v->floats = floats;
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
		*v = list_value(ATTR_STRING, false, 1);
		strings[0] = bytes_text(im, a->s);
		v->strings = strings;
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
		*v = list_value(ATTR_STRING, true, a->n_strings);
		for (size_t i = 0; i < a->n_strings; i++)
			strings[i] = bytes_text(im, a->strings[i]);
		v->strings = strings;
		return v;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO: {
		int64_t type = element_type(a->tp);
		*v = list_value(ATTR_INT, false, 1);
		v->ints = ARENA_COPY(im->tmp, &type, 1);
		return v;
	}
	default:
		return NULL;
	}
}

static void set_attrs(importer *im, const onnx_frame *f,
		      const Onnx__NodeProto *n, mapping_node *m)
{
	mapping_attr *attrs =
		ARENA_ARRAY(im->tmp, mapping_attr, n->n_attribute + 1);
	m->attrs = attrs;
	for (size_t i = 0; i < n->n_attribute; i++) {
		const Onnx__AttributeProto *a =
			onnx_resolve(f, n->attribute[i]);
		if (!a)
			continue;
		attrs[m->nattrs++] = (mapping_attr){
			text(n->attribute[i]->name), attr_of(im, a), a->g
		};
	}
}

/* ---- inputs ------------------------------------------------------------ */

/* Looks up the inputs.  Returns false if one of them cannot be used. */
static bool set_inputs(importer *im, onnx_frame *f, const Onnx__NodeProto *n,
		       const char *place, mvalue *inputs)
{
	bool ok = true;
	for (size_t i = 0; i < n->n_input; i++) {
		const char *name = n->input[i];
		inputs[i] = mv_tensor(NONE);
		if (!*name)
			continue;
		const onnx_value *v = onnx_find(f, name);
		if (!v) {
			diag_error_in(im->sink, DIAG_ONNX_NAME, place,
				      "the input '%s' is defined nowhere",
				      name);
			onnx_bind(im, f, name,
				  (onnx_value){ .v.kind = MV_BAD }, place);
			ok = false;
			continue;
		}
		if (v->why)
			diag_error_in(im->sink, DIAG_UNSUPPORTED, place,
				      "the input '%s' is not known: %s", name,
				      v->why);
		inputs[i] = v->v;
		ok = ok && v->v.kind != MV_BAD && !v->why;
	}
	return ok;
}

/* The inputs' types under the model's declared input shapes; NULL if
 * unknown. */
static const tensor_type **types_before(importer *im, const onnx_frame *f,
					const Onnx__NodeProto *n)
{
	if (!im->before || f->depth > 0)
		return NULL;
	const tensor_type **t =
		ARENA_ARRAY(im->tmp, const tensor_type *, n->n_input + 1);
	for (size_t i = 0; i < n->n_input; i++)
		t[i] = strmap_get(im->before, n->input[i]);
	return t;
}

/* ---- evaluation -------------------------------------------------------- */

/* The version of a domain's operators; adds an error if there is none.  A
 * function that does not state it has the model's version.  Some exporters omit
 * the version of their own domain; it is 1 then. */
static int opset_of(importer *im, const onnx_frame *f, const onnx_call *c,
		    const char *domain)
{
	for (; f; f = f->caller)
		for (int i = 0; i < f->nopsets; i++)
			if (!strcmp(f->opsets[i].domain, domain))
				return f->opsets[i].version;
	if (*domain)
		return 1;
	diag_error_in(im->sink, DIAG_ONNX_VERSION, c->place,
		      "the model does not say which version of the operators "
		      "it uses");
	return 0;
}

static const Onnx__FunctionProto *
find_function(const importer *im, const char *domain, const Onnx__NodeProto *n)
{
	for (size_t i = 0; i < im->model->n_functions; i++) {
		const Onnx__FunctionProto *f = im->model->functions[i];
		const char *d = text(f->domain);
		if (!strcmp(text(f->name), n->op_type) &&
		    !strcmp(strcmp(d, "ai.onnx") ? d : "", domain) &&
		    !strcmp(text(f->overload), text(n->overload)))
			return f;
	}
	return NULL;
}

static bool count_missing(importer *im, const char *domain,
			  const onnx_call *c, int opset)
{
	const char *op = arena_printf(im->tmp, "%s%s%s", domain,
				      *domain ? " " : "", c->node->op_type);
	onnx_missing *m = strmap_get(im->missing, op);
	if (!m) {
		m = ARENA_NEW(im->tmp, onnx_missing);
		*m = (onnx_missing){ .op = op, .domain = domain,
				     .type = c->node->op_type,
				     .opset = opset, .place = c->place };
		strmap_put(im->missing, op, m);
	}
	m->count++;
	if (im->options->survey)
		diag_error_in(im->sink, DIAG_MISSING_OPERATOR, c->place,
			      "tdlc has no '%s' of opset %d", op, opset);
	return false;
}

static bool apply_entry(importer *im, onnx_frame *f, const onnx_call *c,
			const ast_onnx *entry)
{
	const Onnx__NodeProto *n = c->node;
	int nwanted = (int)n->n_output;
	while (nwanted > 0 && !*n->output[nwanted - 1])
		nwanted--;
	onnx_context context = { im, f, c, 0 };
	mvalue *values = ARENA_ARRAY(im->tmp, mvalue, nwanted + 1);
	mapping_node m = { .name = c->name, .place = c->place,
			   .ninputs = (int)n->n_input, .inputs = c->inputs,
			   .noutputs = (int)n->n_output,
			   .number = im->nnodes + im->ninner,
			   .before = types_before(im, f, n),
			   .run_graph = onnx_run_graph,
			   .context = &context };
	set_attrs(im, f, n, &m);
	if (!mapping_apply(im->tmp, im->b, im->modules, im->sink, entry, &m,
			   nwanted, values))
		return false;
	for (int i = 0; i < nwanted; i++) {
		c->results[i].v = values[i];
		if (values[i].kind == MV_NULL)
			c->results[i].why = arena_printf(
				im->tmp, "tdlc does not compute output %d of "
					 "%s",
				i, n->op_type);
		else if (values[i].kind == MV_TENSOR)
			graph_name(im->b, (tensor_id)values[i].i,
				   n->output[i]);
		else
			im->nitems += values[i].n;
	}
	if (im->nitems <= ONNX_MAX_ITEMS)
		return true;
	diag_error_in(im->sink, DIAG_TOO_LARGE, c->place,
		      "the sequences made have more than %d elements",
		      ONNX_MAX_ITEMS);
	return false;
}

/* Evaluates a node by whatever knows it.  If an input is faulty, only checks
 * whether anything does. */
static bool evaluate(importer *im, onnx_frame *f, const onnx_call *c,
		     bool usable)
{
	const char *domain = text(c->node->domain);
	if (!strcmp(domain, "ai.onnx"))
		domain = "";
	int opset = opset_of(im, f, c, domain);
	if (!opset)
		return false;
	onnx_builtin builtin =
		*domain ? NULL : onnx_find_builtin(c->node->op_type);
	if (builtin)
		return usable && builtin(im, f, c);
	const ast_onnx *entry =
		dsl_onnx(im->modules, domain, c->node->op_type, opset);
	if (entry)
		return usable && apply_entry(im, f, c, entry);
	const Onnx__FunctionProto *callee = find_function(im, domain, c->node);
	if (callee)
		return usable && onnx_inline(im, f, c, callee);
	return count_missing(im, domain, c, opset);
}

static const char *node_name(importer *im, const onnx_frame *f,
			     const Onnx__NodeProto *n, int number)
{
	if (*text(n->name))
		return arena_printf(im->arena, "%s%s", f->prefix, n->name);
	return arena_printf(im->arena, "%s%s_%d", f->prefix, n->op_type,
			    number);
}

bool onnx_exhausted(const importer *im)
{
	return im->nnodes > ONNX_MAX_NODES || im->ninner > ONNX_MAX_INNER ||
	       im->nitems > ONNX_MAX_ITEMS || im->copied > ONNX_MAX_COPIED;
}

void onnx_charge(importer *im, size_t bytes)
{
	if (!im->depth || im->copied > ONNX_MAX_COPIED)
		return;
	im->copied += bytes < ONNX_MAX_COPIED ? (int64_t)bytes
					      : ONNX_MAX_COPIED;
	if (im->copied > ONNX_MAX_COPIED)
		diag_error_in(im->sink, DIAG_TOO_LARGE, im->path,
			      "with its loops unrolled and its functions "
			      "inlined the model takes too much memory");
}

static bool count_node(importer *im, const onnx_frame *f)
{
	int most = f->depth ? ONNX_MAX_INNER : ONNX_MAX_NODES;
	int *count = f->depth ? &im->ninner : &im->nnodes;
	if (++*count <= most)
		return true;
	diag_error_in(im->sink, DIAG_TOO_LARGE, im->path,
		      "the model has more than %d nodes%s", most,
		      f->depth ? ", with its loops unrolled and its functions "
				 "inlined"
			       : "");
	return false;
}

/* The names of a node and of its outputs are copied, so they use memory. */
static void charge_names(importer *im, const onnx_call *c)
{
	size_t n = 2 * strlen(c->place) + sizeof(onnx_value);
	for (size_t i = 0; i < c->node->n_output; i++)
		n += 2 * strlen(c->node->output[i]) + sizeof(onnx_value);
	onnx_charge(im, n + c->node->n_input * sizeof(mvalue));
}

static bool eval_node(importer *im, onnx_frame *f, const Onnx__NodeProto *n,
		      int number)
{
	if (!*text(n->op_type)) {
		diag_error_in(im->sink, DIAG_ONNX_NODE,
			      onnx_place(im, "node", text(n->name), NULL),
			      "the node has no operator");
		return false;
	}
	if (n->n_output == 0) {
		diag_error_in(im->sink, DIAG_ONNX_NODE,
			      onnx_place(im, "node", text(n->name),
					 n->op_type),
			      "the node has no output");
		return false;
	}
	if (!count_node(im, f))
		return false;
	onnx_call c = { .node = n, .name = node_name(im, f, n, number) };
	c.place = onnx_place(im, "node", c.name, n->op_type);
	charge_names(im, &c);
	c.results = ARENA_ARRAY(im->tmp, onnx_value, n->n_output + 1);
	mvalue *inputs = ARENA_ARRAY(im->tmp, mvalue, n->n_input + 1);
	c.inputs = inputs;
	onnx_before before = onnx_survey_begin(im, n);
	bool usable = set_inputs(im, f, n, c.place, inputs);
	int nerrors = diag_errors(im->sink);
	for (size_t i = 0; i < n->n_output; i++)
		c.results[i].v = mv_tensor(NONE);
	bool ok = evaluate(im, f, &c, usable);
	for (size_t i = 0; i < n->n_output; i++) {
		if (!ok)
			c.results[i] = (onnx_value){ .v.kind = MV_BAD };
		if (*n->output[i] && !im->options->survey)
			onnx_bind(im, f, n->output[i], c.results[i], c.place);
	}
	return im->options->survey ? onnx_survey_end(im, f, &c, before,
						     nerrors, ok)
				   : ok;
}

bool onnx_nodes(importer *im, onnx_frame *f, Onnx__NodeProto **nodes, size_t n)
{
	int *order = onnx_order(im, f, nodes, n);
	bool ok = order != NULL;
	for (size_t i = 0; order && i < n && !onnx_exhausted(im) &&
			   !diag_full(im->sink);
	     i++)
		ok &= eval_node(im, f, nodes[order[i]], order[i]);
	return ok;
}
