#include "config.h"

#include "compiler/placement/gantt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/units.h"

enum {
	COLUMNS = 64, /* columns of text */
	LEFT = 60,    /* in SVG, pixels */
	WIDTH = 1200,
	LANE = 14,
	DEVICE = 3 * LANE + 10,
	LEAST_NAMED = 60, /* least width of a bar that shows its name */
};

typedef enum kind { COMPUTES, SENDS, RECEIVES } kind;

/* A bar in one of the three lanes of a device. */
typedef struct bar {
	int lane; /* 3 * device + kind */
	int64_t begin, end;
	int op;
} bar;

typedef struct chart {
	const machine *m;
	const int *place;
	const verdict *v;
	FILE *to;
	double scale; /* pixels per ns */
} chart;

static int by_lane(const void *a, const void *b)
{
	const bar *x = a, *y = b;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* Lists the bars in order.  Those of operators without time are left out. */
static int list_bars(arena *a, const chart *c, bar **bars)
{
	const cost_graph *g = c->m->g;
	const verdict *v = c->v;
	int n = 0;
	bar *b = ARENA_ARRAY(a, bar, g->nops + 2 * v->ntransfers);
	for (int i = 0; i < g->nops; i++)
		if (v->end[i] > v->begin[i])
			b[n++] = (bar){ 3 * c->place[i], v->begin[i],
					v->end[i], i };
	for (int i = 0; i < v->ntransfers; i++) {
		const transfer *t = &v->transfers[i];
		int op = g->results[t->result].producer;
		if (t->end == t->begin)
			continue;
		b[n++] = (bar){ 3 * c->place[op] + SENDS, t->begin, t->end,
				op };
		b[n++] = (bar){ 3 * t->to + RECEIVES, t->begin, t->end, op };
	}
	qsort(b, (size_t)n, sizeof(*b), by_lane);
	*bars = b;
	return n;
}

/* Writes text in XML, without characters that are not printable. */
static void print_text(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '<' || *text == '>' || *text == '&' ||
		    *text == '"')
			fprintf(to, "&#%d;", *text);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, to);
}

static void draw_bar(const chart *c, const bar *b, int count)
{
	static const char *const colour[] = { "#4878a8", "#d08a3c",
					      "#e0b978" };
	double x = LEFT + (double)b->begin * c->scale;
	double width = (double)(b->end - b->begin) * c->scale;
	int y = b->lane / 3 * DEVICE + b->lane % 3 * LANE + 24;
	const char *name = c->m->g->ops[b->op].name;
	fprintf(c->to, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
		"height=\"%d\" fill=\"%s\"><title>", x, y,
		width < 0.5 ? 0.5 : width, LANE - 2, colour[b->lane % 3]);
	if (count > 1)
		fprintf(c->to, "%d bars from ", count);
	print_text(c->to, name);
	fprintf(c->to, ", %.3f to %.3f ms</title></rect>\n",
		(double)b->begin * 1e-6, (double)b->end * 1e-6);
	if (count > 1 || width < LEAST_NAMED || b->lane % 3)
		return;
	fprintf(c->to, "<text x=\"%.2f\" y=\"%d\" fill=\"#fff\">", x + 2,
		y + LANE - 4);
	size_t most = (size_t)(width / 7), len = strlen(name);
	while (most < len && ((unsigned char)name[most] & 0xc0) == 0x80)
		most--; /* not inside a character */
	char *text = strndup(name, len < most ? len : most);
	print_text(c->to, text ? text : "");
	free(text);
	fputs("</text>\n", c->to);
}

/* Draws bars; those that follow each other within a pixel become one. */
static void draw_bars(const chart *c, const bar *b, int n)
{
	for (int i = 0, next; i < n; i = next) {
		bar x = b[i];
		for (next = i + 1; next < n && b[next].lane == x.lane &&
				   (double)(b[next].end - x.begin) * c->scale <
					   1; next++)
			x.end = b[next].end > x.end ? b[next].end : x.end;
		draw_bar(c, &x, next - i);
	}
}

static void draw(const chart *c, const bar *b, int n)
{
	fprintf(c->to, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
		"font-size=\"10\">\n<text x=\"4\" y=\"14\">",
		LEFT + WIDTH + 10, 30 + c->m->ndevices * DEVICE);
	print_text(c->to, c->m->g->name);
	fprintf(c->to, ": %s; blue: computes, orange: sends, yellow: "
		"receives</text>\n",
		units_seconds((double)c->v->makespan * 1e-9).text);
	for (int d = 0; d < c->m->ndevices; d++)
		fprintf(c->to, "<text x=\"4\" y=\"%d\">device %d</text>\n"
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
			"fill=\"#f2f2f2\"/>\n", d * DEVICE + 24 + LANE, d,
			LEFT, d * DEVICE + 24, WIDTH, 3 * LANE - 2);
	draw_bars(c, b, n);
	fputs("</svg>\n", c->to);
}

const char *gantt_svg(arena *a, const machine *m, const int *place,
		      const verdict *v)
{
	chart c = { m, place, v, NULL,
		    v->makespan > 0 ? WIDTH / (double)v->makespan : 0 };
	text_stream s;
	size_t len;
	bar *bars;
	int n = list_bars(a, &c, &bars);
	c.to = text_stream_open(&s);
	if (!c.to)
		return NULL;
	draw(&c, bars, n);
	return text_stream_close(&s, a, &len);
}

/* ---- text ---------------------------------------------------------------- */

/* Adds an operator's time to the columns of its device. */
static void add_time(double *busy, double column, int64_t begin, int64_t end)
{
	for (int i = (int)((double)begin / column); i < COLUMNS; i++) {
		double from = i * column, to = from + column;
		from = from > (double)begin ? from : (double)begin;
		to = to < (double)end ? to : (double)end;
		if (to <= from)
			return;
		busy[i] += to - from;
	}
}

const char *gantt_text(arena *a, const machine *m, const int *place,
		       const verdict *v)
{
	arena *work = arena_new();
	double *busy = ARENA_ARRAY(work, double, m->ndevices * COLUMNS);
	double column = (double)v->makespan / COLUMNS;
	const char *text = "";
	for (int i = 0; i < m->g->nops && v->makespan > 0; i++)
		if (v->end[i] > v->begin[i])
			add_time(busy + place[i] * COLUMNS, column,
				 v->begin[i], v->end[i]);
	for (int d = 0; d < m->ndevices; d++) {
		char row[COLUMNS + 1] = "";
		for (int i = 0; i < COLUMNS; i++) {
			double part = busy[d * COLUMNS + i];
			row[i] = part > column / 2 ? '#' :
				 part > 0	   ? '+' :
						     '.';
		}
		text = arena_printf(a, "%s%6d  %s\n", text, d, row);
	}
	arena_free(work);
	return text;
}
