/* What other planners make of the model, and the frontier of time and memory,
 * beside this plan. */

/* A scale is logarithmic where its figures differ by more than this. */
const mostRatio = 4;

function scaleOf(values) {
	const least = Math.min(...values), most = Math.max(...values);
	if (least > 0 && most > mostRatio * least)
		return { distr: 3, range: () => [least / 1.2, most * 1.2] };
	const gap = (most - least || most || 1) * .1;
	return { range: () => [Math.max(0, least - gap), most + gap] };
}

/* The plans that are drawn: {name, seconds, memory, kind}. */
function drawnPlans() {
	const of = (p, name, kind) => ({ name, kind, seconds: p.predicted_seconds,
		memory: p.peak_bytes_per_device });
	const list = (whole.planners || []).filter(p => !p.error)
		.map(p => of(p, p.algorithm, 'planner'));
	if (whole.frontier)
		list.push(...whole.frontier.plans.map(p => of(p, p.algorithm,
			'frontier')));
	return list;
}

const planColours = { planner: 'compute', frontier: 'values' };

/* The place of a name beside its point: the first that meets none of those that
 * are taken, to the right or the left of it, or further up or down. */
function labelPlace(u, at, width, height, taken) {
	const right = u.bbox.left + u.bbox.width, gap = .6 * height;
	const below = u.bbox.top + u.bbox.height;
	for (let step = 0; step < 24; step++)
		for (const side of [1, -1]) {
			const from = side > 0 ? at.x + gap : at.x - gap - width;
			const y = at.y + height * (step % 2 ? -1 : 1) *
				Math.ceil(step / 2);
			const place = { from, to: from + width, y };
			if (from >= u.bbox.left && place.to <= right &&
				y > u.bbox.top && y < below && !taken.some(t =>
				Math.abs(t.y - y) < height && from < t.to &&
				t.from < place.to))
				return place;
		}
	return null;
}

/* Names beside planners' points, as far as there is room. */
function labelPlans(u, plans) {
	const c = u.ctx, scale = window.devicePixelRatio || 1;
	const height = 13 * scale, named = plans.filter(p => p.kind === 'planner')
		.map(p => ({ name: p.name, x: u.valToPos(p.seconds, 'x', true),
			y: u.valToPos(p.memory, 'y', true) }));
	const taken = named.map(p => ({ from: p.x - 4 * scale,
		to: p.x + 4 * scale, y: p.y }));
	c.font = 11 * scale + 'px sans-serif';
	c.textBaseline = 'middle';
	c.textAlign = 'left';
	c.fillStyle = colour('ink');
	for (const p of named) {
		const place = labelPlace(u, p, c.measureText(p.name).width, height,
			taken);
		if (place) {
			taken.push(place);
			c.fillText(p.name, place.from, place.y);
		}
	}
}

function drawPlans(u, plans) {
	const c = u.ctx, scale = window.devicePixelRatio || 1;
	const at = p => [u.valToPos(p.seconds, 'x', true),
		u.valToPos(p.memory, 'y', true)];
	const curve = plans.filter(p => p.kind === 'frontier').map(at);
	c.save();
	c.beginPath();
	curve.forEach(([x, y], i) => {
		if (i)
			c.lineTo(x, curve[i - 1][1]);
		c.lineTo(x, y);
	});
	c.strokeStyle = colour('values');
	c.lineWidth = 1.5 * scale;
	c.stroke();
	for (const p of plans) {
		const [x, y] = at(p);
		c.fillStyle = colour(planColours[p.kind]);
		c.beginPath();
		c.arc(x, y, (p.kind === 'planner' ? 4.5 : 3) * scale, 0, 7);
		c.fill();
	}
	labelPlans(u, plans);
	c.restore();
}

/* The plan of this page, on the same machine. */
function drawThisPlan(u) {
	const c = u.ctx, scale = window.devicePixelRatio || 1;
	c.save();
	c.strokeStyle = colour('ink');
	c.lineWidth = 1.5 * scale;
	c.beginPath();
	c.arc(u.valToPos(whole.predicted_seconds, 'x', true),
		u.valToPos(mostMemory(), 'y', true), 8 * scale, 0, 7);
	c.stroke();
	c.restore();
}

/* Of all devices. */
function mostMemory() {
	return stages.length ? Math.max(...stages.map(s => s.peak_bytes))
		: whole.peak_bytes_per_device;
}

function plansChart(box, width, tip) {
	const plans = drawnPlans();
	const near = u => {
		const away = p => Math.hypot(u.valToPos(p.seconds, 'x') -
			u.cursor.left, u.valToPos(p.memory, 'y') - u.cursor.top);
		const best = plans.reduce((a, b) => away(b) < away(a) ? b : a);
		return away(best) < 25 ? best : null;
	};
	const tell = u => {
		const p = u.cursor.left >= 0 ? near(u) : null;
		tip.textContent = p ? `${p.name}: ${secondsText(p.seconds)}, ` +
			bytesText(p.memory) + ' per device' : '';
	};
	const ticks = show => (u, at) => at.map(v => v === null ? '' : show(v));
	return new uPlot({
		width, height: 320,
		cursor: { points: { show: false }, drag: { x: false, y: false } },
		scales: {
			x: { time: false, ...scaleOf([whole.predicted_seconds,
				...plans.map(p => p.seconds)]) },
			y: scaleOf([mostMemory(), ...plans.map(p => p.memory)]) },
		axes: [axisStyle({ space: 80, label: 'predicted', labelSize: 18,
			values: ticks(secondsText) }),
		axisStyle({ size: 76, label: 'memory per device', labelSize: 18,
			values: ticks(v => bytesText(Math.round(v))) })],
		series: [{}, { paths: () => null, points: { show: false } }],
		hooks: { draw: [u => {
			drawPlans(u, plans);
			drawThisPlan(u);
		}], setCursor: [tell] },
	}, [[1, 2], [1, 2]], box);
}

/* A figure with a bar below it. */
function barOf(value, text, most, kind) {
	const e = el('div', { class: 'number' });
	barCell(e, text, most ? value / most : 0, kind);
	return e;
}

function plannersTable() {
	const list = whole.planners, good = list.filter(p => !p.error);
	const most = key => Math.max(...good.map(p => p[key]));
	const seconds = most('predicted_seconds');
	const memory = most('peak_bytes_per_device');
	const t = table(['planner', 'predicted', 'memory', 'moved', 'byte model',
		'above the bound', 'search'], good.map(p => [p.algorithm,
		barOf(p.predicted_seconds, secondsText(p.predicted_seconds),
			seconds, 'compute'),
		barOf(p.peak_bytes_per_device,
			bytesText(p.peak_bytes_per_device) + (p.fits === false
				? ', too much' : ''), memory, ''),
		bytesText(p.communication_bytes), bytesText(p.byte_model),
		p.gap === null ? '–' : (100 * p.gap).toFixed(1) + ' %',
		p.search_seconds === null ? '–'
			: secondsText(p.search_seconds)]), 'planner-table');
	return [el('h3', {}, 'by planner'), sideways(t),
		...list.filter(p => p.error).map(p => el('p', { class: 'hint' },
			`${p.algorithm}: ${p.error}`))];
}

function frontierTable() {
	const f = whole.frontier;
	const t = table(['planner', 'predicted', 'memory', 'moved'],
		f.plans.map(p => [p.algorithm, secondsText(p.predicted_seconds),
			bytesText(p.peak_bytes_per_device),
			bytesText(p.communication_bytes)]), 'frontier-table');
	return [el('h3', {}, 'the frontier'), sideways(t),
		el('p', { class: 'hint' }, 'Of the plans without buckets that ' +
			'were looked at none is better in both time and memory' +
			(f.proven ? `, and of all ${f.proof} none is.` : '.'))];
}

function makePlanners() {
	if (!whole.planners && !whole.frontier)
		return;
	const view = byId('planners-view');
	const machines = new Set((whole.planners || []).filter(p =>
		p.predicted_for).map(p => p.predicted_for));
	const own = (whole.machine || {}).name || whole.predicted_for;
	view.append(el('p', { class: 'hint' }, 'Time and memory of the plans ' +
		'that were compared' + (machines.size ? ', for ' +
		[...machines].join(', ') : '') + '; the ring is the plan of this ' +
		'page, for ' + own + '.'),
	keys([...(whole.planners ? [['compute', 'planners']] : []),
		...(whole.frontier ? [['values', 'the frontier']] : [])]));
	if (drawnPlans().length)
		addChart(view, plansChart);
	view.append(el('div', { class: 'columns' },
		whole.planners ? el('div', {}, ...plannersTable()) : null,
		whole.frontier ? el('div', {}, ...frontierTable()) : null));
}
