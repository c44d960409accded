/* Plans of several stages: the figures of each, and the pipeline's diagram. */
const passColours = { F: 'compute', B: 'move', W: 'values' };

function stageFacts() {
	const w = whole, loop = w.micro_batches;
	return [
		fact(`${stages.length} stages on ${w.devices} devices`,
			`by ${w.schedule}, ${loop.turns} micro-batches of ` +
			`${loop.batch} samples in all`),
		fact(secondsText(w.predicted_seconds), 'a run of all stages, ' +
			`simulated for ${w.predicted_for}; idle: ` +
			(100 * w.bubble).toFixed(1) + ' % of all devices\' time'),
		fact(bytesText(w.communication_bytes), 'a run, received by all ' +
			'devices, of which ' + bytesText(sum(w.channels,
			c => c.bytes)) + ' between stages'),
	];
}

/* The page of another stage: its address, with the section. */
function stageLink(s, text) {
	return el('a', { href: `?stage=${s}#stages`,
		'aria-current': s === stageAt ? 'true' : null }, text);
}

function devicesText(s) {
	return s.devices === 1 ? String(s.first_device)
		: `${s.first_device} to ${s.first_device + s.devices - 1}`;
}

function stageTable() {
	const heads = ['stage', 'devices', 'operators', 'arena', 'in use',
		'computes', 'moves', 'idle', ''];
	const rows = stages.map((s, i) => [stageLink(i, 'stage ' + i),
		devicesText(s), String(s.report.operators.length),
		bytesText(s.peak_bytes), bytesText(s.bytes_in_use),
		secondsText(s.computing_seconds),
		secondsText(s.communicating_seconds), secondsText(s.idle_seconds),
		(100 * s.idle_seconds / whole.predicted_seconds).toFixed(1) +
			' %']);
	const t = table(heads, rows, 'stage-table');
	t.querySelectorAll('tr')[stageAt + 1].className = 'at';
	return t;
}

/* The passes of a stage, drawn on a row of a canvas of these many seconds. */
function drawPasses(u, row) {
	const c = u.ctx, { min, max } = u.scales.x;
	const top = u.valToPos(row + .1, 'y', true);
	const height = u.valToPos(row + .9, 'y', true) - top;
	c.font = 11 * (window.devicePixelRatio || 1) + 'px sans-serif';
	c.textBaseline = 'middle';
	c.textAlign = 'center';
	for (const [pass, turn, begin, end] of stages[row].passes) {
		if (end <= min || begin >= max)
			continue;
		const x0 = u.valToPos(begin, 'x', true);
		const width = u.valToPos(end, 'x', true) - x0;
		c.fillStyle = colour(passColours[pass] || 'second');
		c.fillRect(x0, top, Math.max(.5, width - (width > 4)), height);
		if (turn === null || width < 16)
			continue;
		c.fillStyle = colour('paper');
		c.fillText(turn, x0 + width / 2, top + height / 2);
	}
}

function drawMessages(u) {
	const c = u.ctx;
	c.strokeStyle = colour('soft');
	c.lineWidth = .8;
	for (const [channel, , begin, end] of whole.messages) {
		const { from, to } = whole.channels[channel];
		if (end <= begin)
			continue;
		const down = to > from;
		c.beginPath();
		c.moveTo(u.valToPos(begin, 'x', true),
			u.valToPos(from + (down ? .9 : .1), 'y', true));
		c.lineTo(u.valToPos(end, 'x', true),
			u.valToPos(to + (down ? .1 : .9), 'y', true));
		c.stroke();
	}
}

function passText([pass, turn, begin, end]) {
	const names = { F: 'forward pass', B: 'backward pass',
		W: 'gradients of weights' };
	return (names[pass] || pass) + (turn === null ? '' :
		` of micro-batch ${turn}`) + ' – ' + secondsText(end - begin) +
		', from ' + secondsText(begin);
}

function pipelineChart(box, width, tip) {
	const end = whole.predicted_seconds || 1, n = stages.length;
	const draw = u => {
		u.ctx.save();
		u.ctx.beginPath();
		u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		u.ctx.clip();
		stages.forEach((s, row) => drawPasses(u, row));
		drawMessages(u);
		u.ctx.restore();
	};
	const row = u => Math.min(n - 1, Math.max(0,
		Math.floor(u.posToVal(u.cursor.top, 'y'))));
	const tell = u => {
		const x = u.posToVal(u.cursor.left, 'x');
		const at = u.cursor.left < 0 ? null : stages[row(u)].passes.find(
			([, , b, e]) => b <= x && x < e);
		tip.textContent = at ? `stage ${row(u)}: ` + passText(at) : '';
	};
	const u = new uPlot({
		width, height: 50 + Math.max(16, Math.min(34, 900 / n)) * n,
		cursor: { y: false, points: { show: false } },
		scales: { x: { time: false, range: fixedRange },
			y: { dir: -1, range: () => [0, n] } },
		axes: [axisStyle({ space: 80,
			values: (u_, x) => x.map(secondsText) }),
		axisStyle({ grid: { show: false }, ticks: { show: false }, size: 80,
			splits: () => stages.map((s, i) => i + .5),
			values: () => stages.map((s, i) => 'stage ' + i) })],
		series: [{}, { paths: () => null, points: { show: false } }],
		hooks: { draw: [draw], setCursor: [tell] },
	}, [[0, end], [0, n]], box);
	u.over.addEventListener('click', () => {
		location.href = `?stage=${row(u)}#stages`;
	});
	zoomByWheel(u, 0, end);
	return u;
}

/* What goes between stages, the most first. */
function channelTable() {
	const shown = 20, all = [...whole.channels].sort((a, b) =>
		b.bytes - a.bytes || byNumber(a.tensor, b.tensor));
	const t = table(['tensor', 'from', 'to', 'in a run', ''],
		all.slice(0, shown).map(c => [c.tensor, String(c.from),
			String(c.to), bytesText(c.bytes), c.once ? 'once' : '']),
		'channels');
	return [el('h3', {}, 'between stages'), sideways(t),
		all.length > shown ? el('p', { class: 'hint' },
			`and ${all.length - shown} more, ` + bytesText(sum(
				all.slice(shown), c => c.bytes))) : ''];
}

/* What scrolls by itself where the page is narrower. */
function sideways(e) {
	return el('div', { class: 'sideways' }, e);
}

function makeStages() {
	if (!stages.length)
		return;
	const view = byId('stages-view');
	view.append(el('p', { class: 'hint' }, 'Which stage does which pass of ' +
		'which micro-batch when; lines are messages. Drag to zoom in, ' +
		'double-click to zoom out; click a stage to see its operators, ' +
		'tensors and memory in the sections below.'),
	keys([['compute', 'forward passes'], ['move', 'backward passes'],
		['values', 'gradients of weights'], ['second', 'once in a run']]));
	addChart(view, pipelineChart);
	const left = el('div', {}), right = el('div', {});
	view.append(sideways(stageTable()), el('div', { class: 'columns' }, left,
		right));
	left.append(...channelTable());
	if (whole.received) {
		right.append(el('h3', {}, 'by device: who receives from whom, of ' +
			'all stages'));
		addChart(right, (box, w, tip) => heatChart(box, w, tip,
			whole.received, 0, stages.slice(1).map(s =>
				s.first_device)));
	}
}
