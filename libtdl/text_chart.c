#include "config.h"

#include "libtdl/text_chart.h"

#include <math.h>
#include <string.h>

enum { ROWS = 12, COLUMNS = 60 };

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

static int place(double v, double most, int n)
{
	int at = most > 0 ? (int)lround(v / most * (n - 1)) : 0;
	return at < 0 ? 0 : at < n ? at : n - 1;
}

void chart_points(FILE *to, const chart_point *at, int n, const char *x_label,
		  const char *y_label)
{
	char lines[ROWS][COLUMNS + 1];
	double x = 0, y = 0;
	if (n == 0)
		return;
	for (int i = 0; i < n; i++) {
		x = fmax(x, at[i].x);
		y = fmax(y, at[i].y);
	}
	for (int r = 0; r < ROWS; r++) {
		memset(lines[r], ' ', COLUMNS);
		lines[r][COLUMNS] = '\0';
	}
	for (int i = 0; i < n; i++)
		lines[ROWS - 1 - place(at[i].y, y, ROWS)]
		     [place(at[i].x, x, COLUMNS)] = '*';
	fprintf(to, "  %s\n", y_label);
	for (int r = 0; r < ROWS; r++) {
		int end = COLUMNS;
		while (end > 0 && lines[r][end - 1] == ' ')
			end--;
		fprintf(to, "  |%.*s\n", end, lines[r]);
	}
	fputs("  0", to);
	for (int i = 0; i < COLUMNS; i++)
		putc('-', to);
	fprintf(to, " %s\n", x_label);
}
