/* The page: its sections, what is chosen, keys, the theme. */
const operators = report.operators, tensors = report.tensors;
const makerOf = new Map(operators.map((op, i) => [op.output, i]));
const readersOf = new Map();
operators.forEach((op, i) => new Set(op.inputs).forEach(t => {
	if (!readersOf.has(t))
		readersOf.set(t, []);
	readersOf.get(t).push(i);
}));

/* ---- overview ---------------------------------------------------------- */

function fact(value, about) {
	return el('div', { class: 'fact' }, el('b', {}, value),
		el('span', {}, about));
}

function searchFacts(s) {
	const facts = [fact(secondsText(s.predicted_seconds_one_device),
		'predicted for one such device, which would need ' +
		bytesText(s.peak_bytes_one_device))];
	const steps = s.optimal_by_step;
	facts.push(fact(bytesText(s.byte_model.total), 'by the byte model' +
		(s.proven ? ', proven to be the least' :
			steps.length && steps.every(x => x)
				? ', each step proven to be the least' : '') +
		(s.lower_bound === null ? '' :
			', at least ' + bytesText(s.lower_bound))));
	if (s.note)
		facts.push(fact('note', s.note));
	return facts;
}

function makeOverview() {
	const r = report, loop = r.micro_batches, of = r.machine.memory;
	const mesh = r.mesh.length > 1 ? ' as ' + r.mesh.join(' × ') : '';
	document.title = r.model + ' on ' + whole.devices + ' devices';
	byId('title').textContent = r.model + (stages.length
		? `, stage ${stageAt}` : '');
	byId('facts').className = 'facts';
	byId('facts').append(
		fact(r.devices + (r.devices === 1 ? ' device' : ' devices') + mesh,
			'planned by ' + r.algorithm + (r.train ? ', a step of training'
				: '')),
		fact(operators.length + ' operators', 'and ' + tensors.length +
			' tensors, after fusing'),
		fact(bytesText(r.communication_bytes), 'a run, received by all ' +
			'devices'),
		fact(bytesText(r.peak_bytes_per_device), 'per device' + (of
			? ', which has ' + bytesText(of) : '')),
		fact(secondsText(r.predicted_seconds), 'a run, predicted for ' +
			r.machine.name + (stages.length ? ', by this stage: ' : ': ') + secondsText(r.computation_seconds) +
			' of computing, ' + secondsText(r.communication_seconds) +
			' of moving' + (r.machine.overlap ? ', side by side' : '')));
	if (stages.length)
		byId('facts').prepend(...stageFacts());
	if (loop)
		byId('facts').append(fact(loop.turns + ' micro-batches',
			'of ' + loop.batch + ' samples in all'));
	if (r.search)
		byId('facts').append(...searchFacts(r.search));
}

/* ---- lists ------------------------------------------------------------- */

let operatorList, tensorList;

/* The first of n with the greatest figure. */
function most(n, f) {
	let at = 0;
	for (let i = 1; i < n; i++)
		if (f(i) > f(at))
			at = i;
	return at;
}

/* Groups in the order of the program. */
function inOrder(groups, at) {
	return [...groups].sort((a, b) => at(a.members[0]) - at(b.members[0]));
}

/* Equal texts of all members, or "differ". */
function common(items, f) {
	const text = f(items[0]);
	return items.every(i => f(i) === text) ? text : 'differ';
}

function figureColumn(title, width, of, text, kind) {
	const f = list => sum(list, i => of(i) || 0);
	let greatest = 0;
	return { title, width, number: true,
		sort: (a, b) => f(a) - f(b),
		cell: (row, cell) => {
			greatest = greatest || Math.max(1e-30,
				...report.blocks.operators.map(g => f(g.members)));
			barCell(cell, text(f(row.of)), f(row.of) / greatest, kind);
		} };
}

function runnerUpText(i) {
	const op = operators[i], r = op.runner_up;
	if (!r)
		return '–';
	const more = r.byte_model - op.byte_model;
	return (more === 0 ? 'as much' : bytesText(Math.abs(more)) +
		(more > 0 ? ' more' : ' less')) + ': by ' +
		perAxis(r.strategy, 'none');
}

function makeOperators() {
	const name = i => operators[i].name;
	operatorList = new FoldedList(byId('operator-list'),
		byId('operator-tools'), {
			what: 'operators', n: operators.length,
			groups: inOrder(report.blocks.operators, i => runsAt.get(i)),
			nameOf: name,
			text: i => (name(i) + ' ' + operators[i].op).toLowerCase(),
			open: showOperator,
			columns: [
				{ title: 'operator', width: 'minmax(8rem, 3fr)',
					cell: (row, cell) => nameCell(row, cell, name) },
				{ title: 'definition', width: 'minmax(5rem, 1fr)', wide: true,
					cell: (row, cell) => cell.append(
						common(row.of, i => operators[i].op)) },
				{ title: 'divided by', width: 'minmax(5rem, 1.2fr)',
					middle: true,
					cell: (row, cell) => cell.append(common(row.of,
						i => perAxis(operators[i].strategy, 'none'))) },
				figureColumn('moves', '5rem',
					i => operators[i].communication_bytes, bytesText, ''),
				figureColumn('computes', '5rem', i => operators[i].seconds,
					secondsText, 'compute'),
				{ title: 'runner-up', width: 'minmax(6rem, 1.5fr)',
					wide: true, cell: (row, cell) => cell.append(
						common(row.of, runnerUpText)) },
			],
		});
}

function thumb(layout) {
	const canvas = el('canvas', { style: 'display: block' });
	drawLayout(canvas, layout, 44, 22, false);
	return canvas;
}

function makeTensors() {
	const name = i => tensors[i].name;
	const size = (list, f) => sum(list, f);
	tensorList = new FoldedList(byId('tensor-list'), byId('tensor-tools'), {
		what: 'tensors', n: tensors.length,
		groups: report.blocks.tensors, nameOf: name,
		text: i => (name(i) + ' ' + tensors[i].kind).toLowerCase(),
		open: showTensor,
		columns: [
			{ title: 'tensor', width: 'minmax(8rem, 3fr)',
				cell: (row, cell) => nameCell(row, cell, name) },
			{ title: 'held', width: '52px', cell: (row, cell) =>
				cell.append(thumb(report.layouts[tensors[row.of[0]].layout])) },
			{ title: 'cuts', width: 'minmax(5rem, 1fr)', middle: true,
				cell: (row, cell) => cell.append(common(row.of, i =>
					perAxis(report.layouts[tensors[i].layout].cuts,
						'replicated'))) },
			{ title: 'type', width: 'minmax(8rem, 1.5fr)', wide: true,
				cell: (row, cell) => cell.append(common(row.of,
					i => shapeText(tensors[i]))) },
			{ title: 'kind', width: '5rem', wide: true, cell: (row, cell) =>
				cell.append(common(row.of, i => tensors[i].kind)) },
			{ title: 'size', width: '5.5rem', number: true, wide: true,
				sort: (a, b) => size(a, i => tensors[i].bytes) -
					size(b, i => tensors[i].bytes),
				cell: (row, cell) => cell.append(bytesText(
					size(row.of, i => tensors[i].bytes))) },
			{ title: 'a device', width: '5.5rem', number: true,
				sort: (a, b) => size(a, i => tensors[i].bytes_per_device) -
					size(b, i => tensors[i].bytes_per_device),
				cell: (row, cell) => cell.append(bytesText(
					size(row.of, i => tensors[i].bytes_per_device))) },
		],
	});
}

/* ---- details ----------------------------------------------------------- */

function tensorLink(t) {
	return el('button', { class: 'link', type: 'button',
		onclick: () => openTensor(t) }, tensors[t].name);
}

function operatorLink(i) {
	return el('button', { class: 'link', type: 'button',
		onclick: () => openOperator(i) }, operators[i].name);
}

function links(list, link) {
	const items = [];
	list.slice(0, 12).forEach((x, i) => items.push(i ? ', ' : '', link(x)));
	return el('dd', {}, ...items, list.length > 12
		? ` and ${list.length - 12} more` : '');
}

function pair(name, value) {
	return value === null ? [] : [el('dt', {}, name),
		value instanceof Node ? value : el('dd', {}, value)];
}

const chosen = { operator: -1, tensor: -1 };

function showChosen() {
	if (chosen.operator >= 0)
		showOperator(chosen.operator);
	if (chosen.tensor >= 0)
		showTensor(chosen.tensor);
}

function showOperator(i) {
	chosen.operator = i;
	const op = operators[i], out = tensors[op.output];
	byId('operator-detail').replaceChildren(
		el('b', {}, op.name),
		el('dl', {}, ...[
			pair('definition', op.op),
			pair('divided by', perAxis(op.strategy, 'none: each device ' +
				'computes all')),
			pair('axes', report.mesh.length ? op.strategy.map((s, a) =>
				`${report.mesh[a]}: ${s === null ? '–' : s}`).join(', ')
				: null),
			pair('computing', secondsText(op.seconds)),
			pair('moving', bytesText(op.communication_bytes) + ' received, ' +
				secondsText(op.communication_seconds)),
			pair('byte model', op.byte_model === null ? null
				: bytesText(op.byte_model)),
			pair('runner-up', op.runner_up === null ? null : runnerUpText(i)),
			pair('reads', links([...new Set(op.inputs)], tensorLink)),
			pair('makes', links([op.output], tensorLink)),
			pair('read by', links(readersOf.get(op.output) || [],
				operatorLink)),
		].flat()),
		el('h3', {}, 'its result'),
		el('div', { class: 'hint' }, shapeText(out) + '; cut ' +
			perAxis(report.layouts[out.layout].cuts, 'nowhere')),
		layoutView(report.layouts[out.layout]));
}

function showTensor(t) {
	chosen.tensor = t;
	const x = tensors[t], layout = report.layouts[x.layout];
	const maker = makerOf.get(t);
	byId('tensor-detail').replaceChildren(
		el('b', {}, x.name),
		el('dl', {}, ...[
			pair('kind', x.kind), pair('type', shapeText(x)),
			pair('size', bytesText(x.bytes)),
			pair('a device', bytesText(x.bytes_per_device)),
			pair('cuts', perAxis(layout.cuts, 'replicated')),
			pair('axes', layoutText(layout)),
			pair('made by', maker === undefined ? null
				: links([maker], operatorLink)),
			pair('read by', links(readersOf.get(t) || [], operatorLink)),
		].flat()), layoutView(layout));
}

function openOperator(i) {
	operatorList.reveal(i);
	showOperator(i);
	byId('operators').scrollIntoView();
}

function openTensor(t) {
	tensorList.reveal(t);
	showTensor(t);
	byId('tensors').scrollIntoView();
}

/* ---- blocks ------------------------------------------------------------ */

function makeGraph() {
	const view = byId('graph-view');
	const fold = el('select', { 'aria-label': 'what is folded' },
		el('option', { value: '0 1' }, 'repeated blocks as one'),
		el('option', { value: '1 1' }, 'their parts'),
		el('option', { value: '2 1' }, 'parts of these'),
		el('option', { value: '0 0' }, 'each block'));
	const zoom = el('input', { type: 'range', min: 20, max: 150, value: 100,
		'aria-label': 'zoom' });
	const open = n => {
		const of = new Set(n.operators);
		operatorList.restrict({ name: foldedName(n), has: i => of.has(i) });
		byId('operators').scrollIntoView();
	};
	const resize = () => {
		const svg = view.querySelector('svg');
		if (!svg)
			return;
		const box = svg.viewBox.baseVal;
		svg.setAttribute('width', box.width * zoom.value / 100);
		svg.setAttribute('height', box.height * zoom.value / 100);
	};
	const draw = () => {
		const [more, repeated] = fold.value.split(' ').map(Number);
		drawGraph(view, more, repeated === 1, open);
		resize();
	};
	fold.addEventListener('change', draw);
	zoom.addEventListener('input', resize);
	byId('graph-tools').append(fold, el('label', {}, 'zoom ', zoom));
	draw();
}

/* ---- communication ----------------------------------------------------- */

/* Blocks that receive something or compute, in the order of the program. */
function bytesByBlock() {
	const found = new Map();
	operators.forEach((op, i) => {
		const name = blockOf(op.name, 0);
		const b = found.get(name) || { name, bytes: 0, seconds: 0, of: [] };
		b.bytes += op.communication_bytes;
		b.seconds += op.seconds;
		b.of.push(i);
		found.set(name, b);
	});
	const first = new Map();
	for (const b of found.values()) {
		const key = patternOf(b.name);
		b.key = key;
		first.set(key, Math.min(beginsAt(b.of), first.get(key) ?? Infinity));
	}
	return [...found.values()].filter(b => b.bytes > 0).sort((a, b) =>
		first.get(a.key) - first.get(b.key) || byNumber(a.name, b.name));
}

function table(heads, rows, id) {
	return el('table', { id }, el('tr', {}, ...heads.map((h, i) =>
		el('th', { class: i ? 'number' : '' }, h))), ...rows.map(row =>
		el('tr', {}, ...row.map((c, i) =>
			el('td', { class: i ? 'number' : '' }, c)))));
}

function makeTraffic() {
	const view = byId('traffic-view'), blocks = bytesByBlock();
	if (report.communication_bytes === 0) {
		view.append(el('p', {}, stages.length ? 'Nothing moves within this ' +
			'stage.' : 'Nothing moves.'));
		return;
	}
	const left = el('div', {}), right = el('div', {});
	left.append(el('h3', {}, 'by collective'), table(
		['collective', 'transfers', 'received', 'takes'],
		report.collectives.filter(c => c.bytes > 0).map(c => [c.name,
			String(c.transfers), bytesText(c.bytes),
			secondsText(c.seconds)]), 'collectives'));
	if (report.links)
		left.append(el('h3', {}, 'by link'), table(
			['outermost link between', 'received', 'bandwidth', 'latency'],
			report.links.map((l, i) => [l.name, bytesText(l.bytes),
				bytesText(report.machine.levels[i].bandwidth) + '/s',
				secondsText(report.machine.levels[i].latency)]),
			'links'));
	right.append(el('h3', {}, 'by device: who receives from whom'));
	if (report.received)
		addChart(right, (box, w, tip) => heatChart(box, w, tip,
			report.received, stages.length
				? stages[stageAt].first_device : 0, []));
	else
		right.append(el('p', { class: 'hint' },
			'Not drawn for more than 256 devices.'));
	view.append(el('h3', {}, 'by block'));
	if (blocks.length)
		addChart(view, (box, w, tip) => barsChart(box, w, tip, blocks));
	view.append(el('div', { class: 'columns' }, left, right));
}

/* ---- memory and time --------------------------------------------------- */

/* The buffers alive at the peak, those of repeated blocks in one row. */
function peakRows() {
	const groupOf = new Map(), rows = new Map();
	report.blocks.tensors.forEach((g, i) => g.members.forEach(t =>
		groupOf.set(t, i)));
	for (const u of report.memory.peak.alive) {
		const key = groupOf.get(u.tensor) + ' ' + u.kind;
		const row = rows.get(key) || { n: 0, bytes: 0, kind: u.kind,
			first: u.tensor, group: groupOf.get(u.tensor) };
		row.n++;
		row.bytes += u.bytes;
		rows.set(key, row);
	}
	return [...rows.values()].sort((a, b) => b.bytes - a.bytes);
}

function keys(list) {
	return el('div', {}, ...list.map(([name, text]) =>
		el('span', { class: 'key' },
			el('i', { style: `background: var(--${name})` }), text)));
}

function makeMemory() {
	const view = byId('memory-view'), peak = report.memory.peak;
	const rows = peakRows(), shown = 20;
	view.append(keys([['kept', 'weights, states and constants'],
		['values', 'inputs and results'],
		['transfers', 'received, or to be combined']]));
	addChart(view, memoryChart);
	view.append(el('h3', {}, 'alive at the peak'), el('p', { class: 'hint' },
		`${bytesText(peak.bytes)} at ${instantText(peak.instruction)}; the ` +
		`arena, with gaps, has ${bytesText(report.peak_bytes_per_device)}`),
	el('table', { id: 'peak' }, el('tr', {}, el('th', {}, 'tensor'),
		el('th', { class: 'number' }, 'buffers'), el('th', {}, 'as'),
		el('th', { class: 'number' }, 'in all')),
	...rows.slice(0, shown).map(r => el('tr', {},
		el('td', {}, r.n === 1 ? tensorLink(r.first) : el('button', {
			class: 'link', type: 'button', onclick: () => openTensor(r.first),
		}, report.blocks.tensors[r.group].name)),
		el('td', { class: 'number' }, String(r.n)), el('td', {}, r.kind),
		el('td', { class: 'number' }, bytesText(r.bytes))))));
	if (rows.length > shown)
		view.append(el('p', { class: 'hint' }, `and ${rows.length - shown} ` +
			'more, ' + bytesText(sum(rows.slice(shown), r => r.bytes))));
}

function makeTimeline() {
	const view = byId('timeline-view');
	if (!report.timeline) {
		view.append(el('p', {}, 'The run has too many instructions to draw.'));
		return;
	}
	view.append(el('p', { class: 'hint' }, 'Predicted, of the slowest device ' +
		'for each instruction' + (report.machine.overlap ? '; this machine ' +
		'communicates while it computes.' : '; this machine computes or ' +
		'communicates, not both at once.') + (stages.length ? ' A message is ' +
		'drawn at both of its ends.' : '') + ' Drag to zoom in, ' +
		'double-click to zoom out; click an instruction to see its operator.'));
	addChart(view, (box, w, tip) => timelineChart(box, w, tip,
		report.timeline));
	makeMeasured(view);
}

/* ---- keys and theme ---------------------------------------------------- */

function themeNow() {
	return document.documentElement.dataset.theme;
}

const systemDark = window.matchMedia('(prefers-color-scheme: dark)');
let chosenTheme = null;

function shownTheme() {
	return chosenTheme || (systemDark.matches ? 'dark' : 'light');
}

/* Canvases have their colours from the theme under which they were drawn. */
function setTheme() {
	document.documentElement.dataset.theme = shownTheme();
	drawCharts();
	tensorList.list.clear();
	tensorList.list.draw();
	showChosen();
}

function nextTheme() {
	chosenTheme = themeNow() === 'dark' ? 'light' : 'dark';
	setTheme();
}

if (!stages.length)
	byId('stages').remove();
if (!whole.planners && !whole.frontier)
	byId('planners').remove();
const sections = [...document.querySelectorAll('main > section')];

function makeKeys() {
	sections.forEach((s, i) => byId('nav').append(el('a', { href: '#' + s.id },
		s.querySelector('h2').textContent)));
	const help = [['1', String(sections.length), ' sections'], ['/', null, ' search'],
		['j', 'k', ' or arrows: next and previous row'],
		['Enter', null, ' open, fold'], ['Esc', null, ' clear'],
		['t', null, ' theme']];
	byId('keys').append(...help.flatMap(([a, b, text]) => [el('kbd', {}, a),
		b ? ' ' : '', b ? el('kbd', {}, b) : '', text + '   ']));
	byId('theme').addEventListener('click', nextTheme);
	document.addEventListener('keydown', onKey);
}

/* The list in sight, for keys that are typed anywhere. */
function listInSight() {
	const far = s => Math.abs(byId(s).getBoundingClientRect().top - 60);
	return far('tensors') < far('operators') ? tensorList : operatorList;
}

function onKey(e) {
	const typing = e.target.matches('input, select, textarea');
	if (e.key === 'Escape' && typing && e.target.type === 'search') {
		e.target.value = '';
		e.target.dispatchEvent(new Event('input'));
		e.target.blur();
	}
	if (typing || e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (e.key === '/') {
		const list = listInSight();
		list.search.focus();
		list.search.select();
	} else if (e.key === 't') {
		nextTheme();
	} else if (/^[1-9]$/.test(e.key) && sections[e.key - 1]) {
		sections[e.key - 1].scrollIntoView();
	} else if ((e.key === 'j' || e.key === 'k') &&
		!e.target.matches('.body')) {
		listInSight().list.body.focus();
		listInSight().list.key(e);
	} else {
		return;
	}
	e.preventDefault();
}

/* ---- begin ------------------------------------------------------------- */

document.documentElement.dataset.theme = shownTheme();
makeOverview();
makeKeys();
makePlanners();
makeStages();
makeOperators();
makeTensors();
makeGraph();
makeTraffic();
makeMemory();
makeTimeline();
drawCharts();
if (operators.length) {
	const shown = most(operators.length, i => operators[i].seconds +
		operators[i].communication_seconds);
	showOperator(shown);
	showTensor(most(tensors.length, i => operators[shown].inputs.includes(i)
		? tensors[i].bytes : 0));
}
systemDark.addEventListener('change', () => { if (!chosenTheme) setTheme(); });

let resized;
window.addEventListener('resize', () => {
	clearTimeout(resized);
	resized = setTimeout(() => {
		charts.filter(c => c.width !== c.box.clientWidth).forEach(c =>
			c.draw());
		operatorList.update();
		tensorList.update();
	}, 100);
});
/* Paper is white, and has a part of each list. */
function toPaper(paper) {
	document.documentElement.dataset.theme = paper ? 'light' : shownTheme();
	drawCharts();
	[operatorList, tensorList].forEach(l => {
		l.list.clear();
		l.list.draw(paper);
	});
	showChosen();
}

window.addEventListener('beforeprint', () => toPaper(true));
window.addEventListener('afterprint', () => toPaper(false));
