/* The graph of blocks: operators folded by their names, repeated blocks one. */

/* Nodes with their sums, in the order of their first operators; edges between
 * them with the bytes of the tensors that they carry. */
function foldGraph(more, repeated) {
	const known = new Map(), edges = new Map();
	const makers = new Map(), where = [];
	let nodes = [];
	report.operators.forEach((op, i) => {
		const block = blockOf(op.name, more);
		const key = repeated ? patternOf(block) : block;
		if (!known.has(key)) {
			known.set(key, nodes.length);
			nodes.push({ key, name: block, operators: [], blocks: new Set(),
				bytes: 0, seconds: 0 });
		}
		const n = where[i] = nodes[known.get(key)];
		n.operators.push(i);
		n.blocks.add(block);
		n.bytes += op.communication_bytes;
		n.seconds += op.seconds;
		makers.set(op.output, i);
	});
	nodes.forEach(n => { n.begins = beginsAt(n.operators); });
	nodes = nodes.sort((a, b) => a.begins - b.begins);
	nodes.forEach((n, i) => { n.number = i; });
	report.operators.forEach((op, i) => {
		for (const t of new Set(op.inputs)) {
			const from = makers.get(t);
			if (from === undefined || where[from] === where[i])
				continue;
			const [a, b] = [where[from].number, where[i].number];
			const key = a + ' ' + b;
			const e = edges.get(key) || { from: a, to: b,
				tensors: new Set(), bytes: 0 };
			if (!e.tensors.has(t))
				e.bytes += report.tensors[t].bytes;
			e.tensors.add(t);
			edges.set(key, e);
		}
	});
	return { nodes, edges: [...edges.values()] };
}

/* Rows by the longest path over the edges that go forward. */
function rankNodes(g) {
	const into = g.nodes.map(() => []);
	g.edges.forEach(e => {
		e.back = e.from > e.to;
		if (!e.back)
			into[e.to].push(e.from);
	});
	const rows = [];
	g.nodes.forEach((n, i) => {
		n.row = Math.max(-1, ...into[i].map(f => g.nodes[f].row)) + 1;
		(rows[n.row] = rows[n.row] || []).push(n);
	});
	rows.forEach(row => row.forEach((n, i) => { n.column = i; }));
	return rows;
}

function foldedName(n) {
	const first = [...n.blocks][0];
	if (n.blocks.size === 1)
		return first;
	return n.blocks.size + ' × ' + n.key.replace(/#/g, '*');
}

const boxWidth = 210, boxHeight = 50, gapX = 46, gapY = 38;

function nodeBox(n, most, open) {
	const x = n.x, y = n.y, name = foldedName(n);
	const bar = most ? Math.round((boxWidth - 16) * n.bytes / most) : 0;
	const show = () => open(n);
	const box = svgEl('g', { class: 'block', tabindex: 0, role: 'button' },
		svgEl('rect', { class: 'frame', x, y, width: boxWidth,
			height: boxHeight, rx: 6 }),
		svgEl('text', { x: x + 8, y: y + 18 }, name.length > 30
			? name.slice(0, 29) + '…' : name),
		svgEl('text', { class: 'soft', x: x + 8, y: y + 34 },
			n.operators.length + (n.operators.length === 1 ? ' operator, '
				: ' operators, ') + bytesText(n.bytes) + ', ' +
			secondsText(n.seconds)),
		svgEl('title', {}, name));
	if (bar)
		box.append(svgEl('rect', { x: x + 8, y: y + 41, width: bar, height: 3,
			style: 'fill: var(--move); stroke: none' }));
	box.addEventListener('click', show);
	box.addEventListener('keydown', e => {
		if (e.key === 'Enter')
			show();
	});
	return box;
}

function edgePath(a, b, e, most, index) {
	const width = 1 + 3 * Math.sqrt(most ? e.bytes / most : 0);
	const x0 = a.x + boxWidth / 2, x1 = b.x + boxWidth / 2;
	let d;
	if (e.back || b.row > a.row + 1 && a.column === b.column) {
		const left = a.x > b.x || a.x === b.x && e.back;
		const side = (left ? -1 : 1) * (18 + 7 * (index % 6));
		const from = left ? a.x : a.x + boxWidth;
		const away = a.x !== b.x;
		const to = left === away ? b.x + boxWidth : b.x;
		const ya = a.y + boxHeight / 2, yb = b.y + boxHeight / 2;
		d = `M${from},${ya} C${from + side},${ya} ` +
			`${to + (away ? -side : side)},${yb} ` +
			`${to},${yb}`;
	} else {
		const y0 = a.y + boxHeight, mid = (y0 + b.y) / 2;
		d = `M${x0},${y0} C${x0},${mid} ${x1},${mid} ${x1},${b.y}`;
	}
	const path = svgEl('path', { d, class: e.back ? 'edge back' : 'edge',
		'stroke-width': width.toFixed(1), 'marker-end': 'url(#arrow)' });
	path.append(svgEl('title', {}, `${foldedName(a)} to ${foldedName(b)}: ` +
		`${e.tensors.size} tensors, ${bytesText(e.bytes)}`));
	return path;
}

const mostBoxes = 400;

function drawGraph(view, more, repeated, open) {
	const g = foldGraph(more, repeated);
	view.replaceChildren();
	if (g.nodes.length > mostBoxes) {
		view.append(el('p', { class: 'hint', style: 'padding: 1rem' },
			`${g.nodes.length} blocks are too many to draw; fold them, or ` +
			'look them up in the list below.'));
		return g;
	}
	const rows = rankNodes(g);
	const wide = Math.max(1, ...rows.map(r => r.length));
	const width = 2 * gapX + wide * (boxWidth + gapX);
	rows.forEach((row, i) => row.forEach(n => {
		const own = row.length * (boxWidth + gapX) - gapX;
		n.x = (width - own) / 2 + n.column * (boxWidth + gapX);
		n.y = 12 + i * (boxHeight + gapY);
	}));
	const height = 24 + rows.length * (boxHeight + gapY);
	const svg = svgEl('svg', { width, height, viewBox: `0 0 ${width} ${height}`,
		style: 'display: block; margin: 0 auto' },
	svgEl('defs', {}, svgEl('marker', { id: 'arrow', viewBox: '0 0 8 8',
		refX: 7, refY: 4, markerWidth: 11, markerHeight: 11,
		markerUnits: 'userSpaceOnUse', orient: 'auto' },
	svgEl('path', { d: 'M0,0 L8,4 L0,8 z', style: 'fill: var(--second)' }))));
	const mostEdge = Math.max(0, ...g.edges.map(e => e.bytes));
	const mostNode = Math.max(0, ...g.nodes.map(n => n.bytes));
	g.edges.forEach((e, i) => svg.append(edgePath(g.nodes[e.from],
		g.nodes[e.to], e, mostEdge, i)));
	g.nodes.forEach(n => svg.append(nodeBox(n, mostNode, open)));
	view.append(svg);
	return g;
}
