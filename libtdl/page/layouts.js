/* Who holds what: layouts drawn as grids. */

/* A device's coordinates on the mesh, the outermost axis first. */
function coordsOf(rank) {
	const at = [];
	for (let a = report.mesh.length; a-- > 0;) {
		at[a] = rank % report.mesh[a];
		rank = Math.floor(rank / report.mesh[a]);
	}
	return at;
}

/* The number of the part of dimension d that is held at these coordinates. */
function partOf(layout, d, coords) {
	let part = 0;
	layout.cuts.forEach((cut, a) => {
		if (cut === d)
			part = part * report.mesh[a] + coords[a];
	});
	return part;
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

/* The blocks of a layout: their regions, and the devices that hold each. */
function blocksOf(layout) {
	if (layout.blocks)
		return layout.blocks;
	const found = new Map();
	for (let rank = 0; rank < report.devices; rank++) {
		const coords = coordsOf(rank);
		const parts = layout.shape.map((_, d) =>
			partOf(layout, d, coords));
		const key = parts.join();
		if (!found.has(key))
			found.set(key, { parts, ranks: [] });
		found.get(key).ranks.push(rank);
	}
	layout.blocks = [...found.values()];
	return layout.blocks;
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

/* The grid of a layout on a canvas of w x h pixels: the blocks at part 0 of the
 * dimensions that are not drawn. */
function drawLayout(canvas, layout, w, h, labels) {
	const [rows, columns] = drawnDims(layout);
	const scale = window.devicePixelRatio || 1, c = canvas.getContext('2d');
	const x = columns < 0 ? [0, w] : edgesOf(layout.bounds[columns], w);
	const y = rows < 0 ? [0, h] : edgesOf(layout.bounds[rows], h);
	canvas.width = w * scale;
	canvas.height = h * scale;
	canvas.style.width = w + 'px';
	canvas.style.height = h + 'px';
	c.scale(scale, scale);
	c.font = '11px sans-serif';
	c.textAlign = 'center';
	c.textBaseline = 'middle';
	for (const b of blocksOf(layout)) {
		if (b.parts.some((p, d) => d !== rows && d !== columns && p > 0))
			continue;
		const i = rows < 0 ? 0 : b.parts[rows];
		const j = columns < 0 ? 0 : b.parts[columns];
		const bw = x[j + 1] - x[j], bh = y[i + 1] - y[i];
		c.fillStyle = rankColour(b.ranks[0]);
		c.fillRect(x[j], y[i], bw, bh);
		if (bw > 3 && bh > 3) {
			c.strokeStyle = colour('paper');
			c.strokeRect(x[j] + .5, y[i] + .5, bw - 1, bh - 1);
		}
		const text = ranksText(b.ranks);
		c.fillStyle = colour('ink');
		if (labels && bh > 12 && c.measureText(text).width < bw - 4)
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
	const [rows, columns] = drawnDims(layout), blocks = blocksOf(layout);
	const hidden = layout.shape.map((_, d) => d).filter(d => d !== rows &&
		d !== columns && layout.bounds[d].length > 2);
	drawLayout(canvas, layout, 380, rows < 0 ? 44 : 220, true);
	const note = (rows < 0 ? '' : `dimension ${rows} down, `) +
		(columns < 0 ? 'no dimensions' : `dimension ${columns} across`) +
		(hidden.length ? '; part 0 of dimension ' + hidden.join(', ') : '') +
		'; numbers are devices';
	const table = el('table', {}, el('tr', {}, el('th', {}, 'block'),
		el('th', {}, 'devices')), ...blocks.slice(0, 32).map(b =>
		el('tr', {}, el('td', {}, regionText(layout, b.parts)),
			el('td', {}, ranksText(b.ranks)))));
	return el('div', { class: 'layout' }, canvas,
		el('div', { class: 'hint' }, note), el('details', {},
			el('summary', {}, blocks.length === 1 ? 'the one block'
				: blocks.length + ' blocks'), table,
			blocks.length > 32 ? el('div', { class: 'hint' },
				`and ${blocks.length - 32} more`) : null));
}
