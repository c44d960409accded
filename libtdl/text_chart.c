#include "config.h"

#include "libtdl/text_chart.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum {
	ROWS = 12,
	COLUMNS = 60,
	LABEL = 9, /* columns for labels on the left */
};

static char *filled(arena *a, char c, int width)
{
	char *text = arena_alloc(a, (size_t)width + 1);
	memset(text, c, (size_t)width);
	text[width] = '\0';
	return text;
}

const char *chart_bar(arena *a, double v, double most, int width)
{
	char *text = filled(a, '.', width);
	int n = most > 0 ? (int)lround(v / most * width) : 0;
	if (v > 0 && most > 0 && n == 0)
		n = 1;
	memset(text, '#', (size_t)(n < width ? n : width));
	return text;
}

const char *chart_part(arena *a, int64_t lo, int64_t hi, int64_t extent,
		       int width)
{
	int n = extent < width ? (int)extent : width;
	char *text = filled(a, '.', n);
	for (int i = 0; i < n; i++) {
		/* Element e is in the character floor(e * n / extent). */
		double beg = ceil((double)i * (double)extent / n);
		double end = ceil((double)(i + 1) * (double)extent / n);
		if ((double)lo < end && (double)hi > beg && lo < hi)
			text[i] = '#';
	}
	return text;
}

/* The nearest of n positions on an axis from lo to hi. */
static int place(double v, double lo, double hi, int n)
{
	return hi > lo ? (int)lround((v - lo) / (hi - lo) * (n - 1)) : 0;
}

static void mark(char lines[ROWS][COLUMNS + 1], const chart_point *at, int n)
{
	chart_point lo = at[0], hi = at[0];
	for (int i = 1; i < n; i++) {
		lo = (chart_point){ fmin(lo.x, at[i].x), fmin(lo.y, at[i].y) };
		hi = (chart_point){ fmax(hi.x, at[i].x), fmax(hi.y, at[i].y) };
	}
	for (int i = 0; i < n; i++)
		lines[ROWS - 1 - place(at[i].y, lo.y, hi.y, ROWS)]
		     [place(at[i].x, lo.x, hi.x, COLUMNS)] = '*';
}

/* Prints the line of an axis, and below it its ends and name. */
static void put_x_axis(FILE *to, const chart_axis *x)
{
	int left = text_width(x->least.text), name = text_width(x->name);
	int before = (COLUMNS - name) / 2 - left;
	int after = COLUMNS - (left + before + name);
	fprintf(to, "%*s", LABEL + 2, "+");
	for (int i = 0; i < COLUMNS; i++)
		putc('-', to);
	fprintf(to, "\n%*s%s%*s%s%s\n", LABEL + 2, "", x->least.text, before,
		"", x->name, units_right(x->most, after).text);
}

void chart_points(FILE *to, const chart_point *at, int n, const chart_axis *x,
		  const chart_axis *y)
{
	char lines[ROWS][COLUMNS + 1];
	if (n == 0)
		return;
	for (int r = 0; r < ROWS; r++) {
		memset(lines[r], ' ', COLUMNS);
		lines[r][COLUMNS] = '\0';
	}
	mark(lines, at, n);
	fprintf(to, "%*s\n", LABEL, y->name);
	for (int r = 0; r < ROWS; r++) {
		const quantity *end = r == 0 ? &y->most :
				      r == ROWS - 1 ? &y->least : NULL;
		int width = COLUMNS;
		while (width > 0 && lines[r][width - 1] == ' ')
			width--;
		fprintf(to, "%s |%.*s\n",
			units_right(end ? *end : (quantity){ "" }, LABEL).text,
			width, lines[r]);
	}
	put_x_axis(to, x);
}
