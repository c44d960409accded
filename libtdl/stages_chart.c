/* The diagram of a pipeline: when each stage does each pass of each
 * micro-batch. */
#include "config.h"

#include "libtdl/stages_view.h"

#include "base/text.h"
#include "base/units.h"

static bool is_pass(const plan *q, const simulated_task *t, plan_pass pass)
{
	return t->turn >= 0 && q->stage &&
	       q->stage->segments[t->segment].pass == pass;
}

/* ---- text -------------------------------------------------------------- */

enum { LABEL = 11, WIDTH = TEXT_COLUMNS - LABEL - 1, TEN = 10 };

static char letter_of(const plan *q, const simulated_task *t)
{
	if (t->turn < 0)
		return '+';
	if (is_pass(q, t, PASS_WEIGHT))
		return '*';
	return (char)((is_pass(q, t, PASS_BACKWARD) ? 'a' : '0') +
		      t->turn % TEN);
}

/* The part of [begin, end) filled by a task. */
static double filled(const simulated_task *t, double begin, double end)
{
	double from = t->begin_seconds > begin ? t->begin_seconds : begin;
	double to = t->end_seconds < end ? t->end_seconds : end;
	return to > from ? to - from : 0;
}

/* Prints in each column the task that fills most of it.  A column that is idle
 * for more than half is blank.  The tasks of a stage are sorted by end. */
static void put_row(FILE *to, const stages_view *v, int s)
{
	const plan *q = &v->p->stages[s];
	const simulated_stage *x = &v->step->stages[s];
	double column = v->step->seconds / WIDTH;
	int first = 0;
	for (int i = 0; i < WIDTH; i++) {
		double begin = i * column, end = begin + column, most = 0;
		double all = 0;
		const simulated_task *of = NULL;
		while (first < x->ntasks &&
		       x->tasks[first].end_seconds <= begin)
			first++;
		for (int k = first; k < x->ntasks; k++) {
			double part = filled(&x->tasks[k], begin, end);
			all += part;
			if (part > most) {
				most = part;
				of = &x->tasks[k];
			}
			if (x->tasks[k].begin_seconds >= end)
				break;
		}
		putc(of && all * 2 >= column ? letter_of(q, of) : '.', to);
	}
}

static bool has_pass(const plan_pipeline *p, plan_pass pass)
{
	for (int s = 0; s < p->nstages; s++)
		for (int g = 0;
		     p->stages[s].stage && g < p->stages[s].stage->nsegments;
		     g++)
			if (p->stages[s].stage->segments[g].pass == pass)
				return true;
	return false;
}

void stages_chart_text(FILE *to, const stages_view *v)
{
	const plan_pipeline *p = v->p;
	const char *back = has_pass(p, PASS_BACKWARD)
				   ? "; a to j: their backward passes" : "";
	const char *weights = has_pass(p, PASS_WEIGHT)
				      ? "; *: gradients of weights" : "";
	if (v->step->seconds <= 0)
		return;
	fprintf(to, "\n");
	for (int s = 0; s < p->nstages; s++) {
		fprintf(to, "stage %4d |", s);
		put_row(to, v, s);
		fprintf(to, "\n");
	}
	text_indented(to, arena_printf(
		v->arena, "0 to 9: micro-batches by their last digit%s%s; +: "
		"once in a step; .: idle", back, weights), 0);
}

/* ---- SVG --------------------------------------------------------------- */

enum {
	LEFT = 70, /* pixels */
	DRAWN = 1120,
	ROW = 30,
	GAP = 10,
	TOP = 46,
	LEAST_NAMED = 14, /* least width of a pass that shows its number */
};

typedef struct drawing {
	FILE *to;
	const stages_view *v;
	double scale; /* pixels per second */
} drawing;

/* Writes text in XML, without characters that are not printable. */
static void put_xml(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '<' || *text == '>' || *text == '&' ||
		    *text == '"')
			fprintf(to, "&#%d;", *text);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, to);
}

static int row_at(int nth)
{
	return TOP + nth * (ROW + GAP);
}

static void put_task(const drawing *d, int s, const simulated_task *t)
{
	static const char *const colours[] = { [PASS_FORWARD] = "#4878a8",
					       [PASS_BACKWARD] = "#d08a3c",
					       [PASS_WEIGHT] = "#6a9a58" };
	const plan *q = &d->v->p->stages[s];
	double x = LEFT + t->begin_seconds * d->scale;
	double width = (t->end_seconds - t->begin_seconds) * d->scale;
	const char *colour = "#888888";
	if (t->end_seconds <= t->begin_seconds)
		return;
	if (t->turn >= 0)
		colour = colours[q->stage ? q->stage->segments[t->segment].pass
					  : PASS_FORWARD];
	fprintf(d->to, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
		"height=\"%d\" fill=\"%s\" stroke=\"#ffffff\" "
		"stroke-width=\"0.5\"><title>%s", x, row_at(s),
		width < 0.5 ? 0.5 : width, ROW, colour,
		stages_pass_name(q, t->segment));
	if (t->turn >= 0)
		fprintf(d->to, " %d", t->turn);
	fprintf(d->to, ", %.6g to %.6g ms</title></rect>\n",
		t->begin_seconds * 1e3, t->end_seconds * 1e3);
	if (t->turn >= 0 && width >= LEAST_NAMED)
		fprintf(d->to, "<text x=\"%.2f\" y=\"%d\" fill=\"#ffffff\" "
			"text-anchor=\"middle\" pointer-events=\"none\">%d"
			"</text>\n", x + width / 2, row_at(s) + ROW / 2 + 4,
			t->turn);
}

static void put_message(const drawing *d, const simulated_message *m)
{
	const plan_channel *c = &d->v->p->channels[m->channel];
	int from = row_at(c->from), to = row_at(c->to);
	if (m->end_seconds <= m->begin_seconds)
		return;
	fprintf(d->to, "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" "
		"stroke=\"#444444\" stroke-width=\"0.8\"><title>",
		LEFT + m->begin_seconds * d->scale,
		from + (c->to > c->from ? ROW : 0),
		LEFT + m->end_seconds * d->scale,
		to + (c->to > c->from ? 0 : ROW));
	put_xml(d->to, d->v->p->stages[c->to].tensors[c->target].name);
	fprintf(d->to, ", %.6g to %.6g ms</title></line>\n",
		m->begin_seconds * 1e3, m->end_seconds * 1e3);
}

static void put_row_frame(const drawing *d, int s)
{
	const simulated_stage *x = &d->v->step->stages[s];
	fprintf(d->to, "<text x=\"4\" y=\"%d\" fill=\"#222222\">stage %d<title>"
		"devices %d to %d</title></text>\n<rect x=\"%d\" y=\"%d\" "
		"width=\"%d\" height=\"%d\" fill=\"#f0f0f0\"/>\n",
		row_at(s) + ROW / 2 + 4, s, x->first,
		x->first + x->ndevices - 1, LEFT, row_at(s), DRAWN, ROW);
}

void stages_chart_svg(FILE *to, const stages_view *v)
{
	const simulation *x = v->step;
	drawing d = { to, v, x->seconds > 0 ? DRAWN / x->seconds : 0 };
	int width = LEFT + DRAWN + 10, height = row_at(x->nstages) + 4;
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
		"<text x=\"4\" y=\"16\" fill=\"#222222\">", width, height,
		width, height, width, height);
	put_xml(to, v->p->model);
	fprintf(to, ": %s, for ", units_seconds(x->seconds).text);
	put_xml(to, v->machine->name);
	fprintf(to, "; idle %.1f %%</text>\n<text x=\"4\" y=\"34\" "
		"fill=\"#222222\">", 100 * x->bubble);
	put_xml(to, stages_schedule_text(v->arena, v->p));
	fputs("; blue: forward, orange: backward, green: gradients of weights, "
	      "grey: once in a step; lines: messages</text>\n", to);
	for (int s = 0; s < x->nstages; s++)
		put_row_frame(&d, s);
	for (int s = 0; s < x->nstages; s++)
		for (int i = 0; i < x->stages[s].ntasks; i++)
			put_task(&d, s, &x->stages[s].tasks[i]);
	for (int m = 0; m < x->nmessages; m++)
		put_message(&d, &x->messages[m]);
	fputs("</svg>\n", to);
}
