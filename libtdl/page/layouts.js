/* Who holds what: layouts drawn as grids. */

/* The number of parts of each dimension. */
function partsOf(layout) {
	return layout.bounds.map(b => b.length - 1);
}

/* The coordinates on the mesh that a block has, its parts given by dimension;
 * null on the axes over which it is replicated. */
function coordsOf(layout, parts) {
	const left = [...parts], coords = [];
	for (let a = report.mesh.length; a-- > 0;) {
		const cut = layout.cuts[a], n = report.mesh[a];
		coords[a] = typeof cut === 'number' ? left[cut] % n : null;
		if (typeof cut === 'number')
			left[cut] = Math.floor(left[cut] / n);
	}
	return coords;
}

/* The devices that hold a block, ascending. */
function ranksOf(layout, parts) {
	let ranks = [0];
	coordsOf(layout, parts).forEach((at, a) => {
		const n = report.mesh[a];
		ranks = at !== null ? ranks.map(r => r * n + at)
			: ranks.flatMap(r => Array.from({ length: n },
				(_, i) => r * n + i));
	});
	return ranks;
}

function firstRank(layout, parts) {
	return coordsOf(layout, parts).reduce((r, at, a) =>
		r * report.mesh[a] + (at || 0), 0);
}

/* The first `most' blocks, by their parts. */
function blocksOf(layout, most) {
	const n = partsOf(layout), parts = n.map(() => 0), blocks = [];
	for (;;) {
		let d = n.length - 1;
		blocks.push([...parts]);
		while (d >= 0 && ++parts[d] === n[d])
			parts[d--] = 0;
		if (d < 0 || blocks.length === most)
			return blocks;
	}
}

/* The two dimensions that are drawn, rows and columns; -1: there is none. */
function drawnDims(layout) {
	const n = layout.shape.length;
	const cut = layout.shape.map((_, d) => d)
		.filter(d => layout.bounds[d].length > 2);
	if (n === 0)
		return [-1, -1];
	if (n === 1)
		return [-1, 0];
	if (cut.length >= 2)
		return [cut[0], cut[1]];
	const one = cut.length ? cut[0] : n - 2;
	const other = one === n - 1 ? n - 2 : n - 1;
	return [Math.min(one, other), Math.max(one, other)];
}

function regionText(layout, parts) {
	return '[' + parts.map((p, d) => layout.bounds[d][p] + ':' +
		layout.bounds[d][p + 1]).join(', ') + ']';
}

/* 0..3, 8..11 */
function ranksText(ranks) {
	const runs = [];
	for (const r of ranks) {
		const last = runs[runs.length - 1];
		if (last && last[1] === r - 1)
			last[1] = r;
		else
			runs.push([r, r]);
	}
	const texts = runs.slice(0, 8).map(([a, b]) =>
		a === b ? String(a) : a + '..' + b);
	return texts.join(', ') + (runs.length > 8 ? ', …' : '');
}

function rankColour(rank) {
	const hue = report.devices > 1 ? 210 + 300 * rank / report.devices : 210;
	const dark = document.documentElement.dataset.theme === 'dark';
	return `hsl(${hue % 360} 45% ${dark ? 38 : 78}%)`;
}

/* Places of n parts over `length' pixels, in proportion to their extents but
 * so that each is seen. */
function edgesOf(bounds, length) {
	const n = bounds.length - 1, all = bounds[n] || 1;
	return bounds.map((b, i) => length *
		(0.3 * i / n + 0.7 * b / all));
}

/* Runs of n parts that are drawn as one, of two pixels at least. */
function drawnParts(n, length) {
	const step = Math.ceil(2 * n / length), parts = [];
	for (let i = 0; i < n; i += step)
		parts.push([i, Math.min(n, i + step)]);
	return parts;
}

/* The grid of a layout on a canvas of w x h pixels: the blocks at part 0 of the
 * dimensions that are not drawn. */
function drawLayout(canvas, layout, w, h, labels) {
	const [rows, columns] = drawnDims(layout);
	const scale = window.devicePixelRatio || 1, c = canvas.getContext('2d');
	const x = columns < 0 ? [0, w] : edgesOf(layout.bounds[columns], w);
	const y = rows < 0 ? [0, h] : edgesOf(layout.bounds[rows], h);
	const parts = layout.shape.map(() => 0);
	const paper = colour('paper'), ink = colour('ink');
	canvas.width = w * scale;
	canvas.height = h * scale;
	canvas.style.width = w + 'px';
	canvas.style.height = h + 'px';
	c.scale(scale, scale);
	c.font = '11px sans-serif';
	c.textAlign = 'center';
	c.textBaseline = 'middle';
	for (const [i, iend] of drawnParts(y.length - 1, h))
		for (const [j, jend] of drawnParts(x.length - 1, w)) {
			const bw = x[jend] - x[j], bh = y[iend] - y[i];
			if (rows >= 0)
				parts[rows] = i;
			if (columns >= 0)
				parts[columns] = j;
			c.fillStyle = rankColour(firstRank(layout, parts));
			c.fillRect(x[j], y[i], bw, bh);
			if (bw > 3 && bh > 3) {
				c.strokeStyle = paper;
				c.strokeRect(x[j] + .5, y[i] + .5, bw - 1, bh - 1);
			}
			if (!labels || bh <= 12 || bw <= 10)
				continue;
			const text = ranksText(ranksOf(layout, parts));
			c.fillStyle = ink;
			if (c.measureText(text).width < bw - 4)
				c.fillText(text, x[j] + bw / 2, y[i] + bh / 2);
		}
}

/* What each axis of the mesh does with a tensor, in words. */
function layoutText(layout) {
	if (!report.mesh.length)
		return 'one device holds all of it';
	return layout.cuts.map((cut, a) => report.mesh[a] + ': ' +
		(cut === null ? 'replicated' : typeof cut === 'number'
			? 'cut ' + cut : cut)).join(', ');
}

/* The drawing with its axes and the list of its blocks. */
function layoutView(layout) {
	const canvas = el('canvas', { role: 'img', 'aria-label':
		'who holds what: ' + layoutText(layout) });
	const [rows, columns] = drawnDims(layout);
	const blocks = blocksOf(layout, 32);
	const nblocks = partsOf(layout).reduce((n, x) => n * x, 1);
	const hidden = layout.shape.map((_, d) => d).filter(d => d !== rows &&
		d !== columns && layout.bounds[d].length > 2);
	drawLayout(canvas, layout, 380, rows < 0 ? 44 : 220, true);
	const note = (rows < 0 ? '' : `dimension ${rows} down, `) +
		(columns < 0 ? 'no dimensions' : `dimension ${columns} across`) +
		(hidden.length ? '; part 0 of dimension ' + hidden.join(', ') : '') +
		'; numbers are devices';
	const table = el('table', {}, el('tr', {}, el('th', {}, 'block'),
		el('th', {}, 'devices')), ...blocks.map(parts =>
		el('tr', {}, el('td', {}, regionText(layout, parts)),
			el('td', {}, ranksText(ranksOf(layout, parts))))));
	return el('div', { class: 'layout' }, canvas,
		el('div', { class: 'hint' }, note), el('details', {},
			el('summary', {}, nblocks === 1 ? 'the one block'
				: nblocks + ' blocks'), table,
			nblocks > 32 ? el('div', { class: 'hint' },
				`and ${nblocks - 32} more`) : null));
}
