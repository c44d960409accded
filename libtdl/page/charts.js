/* The charts, with uPlot: bytes by block, the heat map, memory, the timeline. */
const charts = [];

/* A chart that is made anew when its width or the theme changes. */
function addChart(parent, make) {
	const box = el('div', { class: 'chart' });
	const tip = el('div', { class: 'tip' });
	const chart = { box, make, tip, plot: null };
	parent.append(box, tip);
	charts.push(chart);
	chart.draw = () => {
		if (chart.plot)
			chart.plot.destroy();
		const width = Math.max(260, Math.min(box.clientWidth || 900, 1560));
		chart.width = width;
		chart.plot = make(box, width, tip);
	};
	return chart;
}

function drawCharts() {
	charts.forEach(c => c.draw());
}

function axisStyle(more) {
	return Object.assign({ stroke: colour('soft'),
		grid: { stroke: colour('line'), width: 1 },
		ticks: { stroke: colour('line'), width: 1 } }, more);
}

const fixedRange = (u, min, max) => [min, max];

/* Zooms x by the wheel with the control key, around the pointer. */
function zoomByWheel(u, least, most) {
	u.over.addEventListener('wheel', e => {
		if (!e.ctrlKey && !e.metaKey)
			return;
		e.preventDefault();
		const at = u.posToVal(e.offsetX, 'x'), f = e.deltaY < 0 ? .75 : 1.33;
		const { min, max } = u.scales.x;
		u.setScale('x', { min: Math.max(least, at - (at - min) * f),
			max: Math.min(most, at + (max - at) * f) });
	}, { passive: false });
}

/* ---- bytes by block ---------------------------------------------------- */

function barsChart(box, width, tip, blocks) {
	const names = blocks.map(b => b.name);
	const tell = u => {
		const i = u.cursor.idx;
		tip.textContent = i === null || i === undefined ? '' :
			names[i] + ': ' + bytesText(blocks[i].bytes) + ' received, ' +
			secondsText(blocks[i].seconds) + ' of computing';
	};
	return new uPlot({
		width, height: 220, cursor: { y: false, points: { show: false } },
		scales: { x: { time: false,
			range: () => [-.7, names.length - .3] },
			y: { range: (u, min, max) => [0, max || 1] } },
		axes: [axisStyle({ space: 90, incrs: [1, 2, 5, 10, 20, 50, 100, 200,
			500, 1000, 2000, 5000],
			values: (u, at) => at.map(i => names[i] === undefined ? '' :
				names[i].length > 13 ? names[i].slice(0, 12) + '…'
					: names[i]) }),
		axisStyle({ size: 70, values: (u, at) => at.map(bytesText) })],
		series: [{}, { fill: colour('move'), stroke: colour('move'),
			paths: uPlot.paths.bars({ size: [.7, 60] }),
			points: { show: false } }],
		hooks: { setCursor: [tell] },
	}, [names.map((_, i) => i), blocks.map(b => b.bytes)], box);
}

/* ---- who receives from whom -------------------------------------------- */

function mix(from, to, f) {
	const part = s => [1, 3, 5].map(i => parseInt(s.slice(i, i + 2), 16));
	const a = part(from), b = part(to);
	return 'rgb(' + a.map((v, i) => Math.round(v + (b[i] - v) * f)).join() +
		')';
}

/* rows: bytes by receiver and sender, devices from `first' on; between the
 * stages that begin at `begins' lines are drawn. */
function heatChart(box, width, tip, rows, first, begins) {
	const n = rows.length;
	const size = Math.min(width, 560), side = size - 60;
	let most = 0;
	rows.forEach(row => row.forEach(v => { most = Math.max(most, v); }));
	const draw = u => {
		const c = u.ctx, w = u.bbox.width / n, h = u.bbox.height / n;
		c.save();
		rows.forEach((row, i) => row.forEach((v, j) => {
			c.fillStyle = v === 0 ? colour('raised') :
				mix(colour('heat0'), colour('heat1'), .15 + .85 * v / most);
			c.fillRect(u.bbox.left + j * w, u.bbox.top + i * h,
				Math.ceil(w), Math.ceil(h));
		}));
		c.strokeStyle = colour('ink');
		c.beginPath();
		for (const b of begins) {
			c.moveTo(u.bbox.left + b * w, u.bbox.top);
			c.lineTo(u.bbox.left + b * w, u.bbox.top + u.bbox.height);
			c.moveTo(u.bbox.left, u.bbox.top + b * h);
			c.lineTo(u.bbox.left + u.bbox.width, u.bbox.top + b * h);
		}
		c.stroke();
		c.restore();
	};
	const tell = u => {
		const j = Math.floor(u.posToVal(u.cursor.left, 'x'));
		const i = Math.floor(u.posToVal(u.cursor.top, 'y'));
		tip.textContent = u.cursor.left >= 0 && rows[i] && j in rows[i]
			? `device ${first + i} receives ${bytesText(rows[i][j])} ` +
			`from ${first + j}` : '';
	};
	const values = (u, at) => at.map(v => Number.isInteger(v) && v < n
		? first + v : '');
	return new uPlot({
		width: size, height: side + 50,
		cursor: { points: { show: false }, drag: { x: false, y: false } },
		scales: { x: { time: false, range: () => [0, n] },
			y: { dir: -1, range: () => [0, n] } },
		axes: [axisStyle({ grid: { show: false }, values,
			label: 'sender', labelSize: 18 }),
		axisStyle({ grid: { show: false }, values, label: 'receiver',
			labelSize: 18 })],
		series: [{}, { paths: () => null, points: { show: false } }],
		hooks: { draw: [draw], setCursor: [tell] },
	}, [[0, n], [0, n]], box);
}

/* ---- memory ------------------------------------------------------------ */

/* The instruction at an instant of the memory's figures, in words. */
function instantText(t) {
	if (t < 0)
		return 'before the first instruction';
	if (t >= report.program.length)
		return 'after the last instruction';
	return `instruction ${t}: ` + instructionText(report.program[t]);
}

function instructionText(in_) {
	const tensor = report.tensors[in_.tensor].name;
	if (in_.does === 'run')
		return report.operators[in_.operator].name + ' (' +
			report.operators[in_.operator].op + ')';
	if (in_.does === 'feed')
		return 'feed ' + tensor;
	if (in_.does === 'send' || in_.does === 'receive')
		return in_.does + ' ' + tensor;
	return in_.collective + ' of ' + tensor + (in_.operator === null ? '' :
		' for ' + report.operators[in_.operator].name) +
		', ' + bytesText(in_.bytes);
}

function memoryChart(box, width, tip) {
	const use = report.memory.in_use, n = use.kept.length;
	const x = [], kept = use.kept, values = [], all = [];
	for (let i = 0; i < n; i++) {
		x.push(i - 1);
		values.push(kept[i] + use.values[i]);
		all.push(values[i] + use.transfers[i]);
	}
	const peak = report.memory.peak.instruction;
	const mark = u => {
		const at = Math.round(u.valToPos(peak, 'x', true)), c = u.ctx;
		c.save();
		c.strokeStyle = colour('ink');
		c.setLineDash([4, 4]);
		c.beginPath();
		c.moveTo(at, u.bbox.top);
		c.lineTo(at, u.bbox.top + u.bbox.height);
		c.stroke();
		c.restore();
	};
	const tell = u => {
		const i = u.cursor.idx;
		tip.textContent = i === null || i === undefined ? '' :
			instantText(i - 1) + ' – ' + bytesText(all[i]) + ' in use: ' +
			bytesText(use.kept[i]) + ' kept, ' + bytesText(use.values[i]) +
			' of values, ' + bytesText(use.transfers[i]) + ' for transfers';
	};
	const step = uPlot.paths.stepped({ align: 1 });
	const series = name => ({ stroke: colour(name), fill: colour(name),
		width: 1, paths: step, points: { show: false } });
	const u = new uPlot({
		width, height: 280, cursor: { y: false, points: { show: false } },
		scales: { x: { time: false, range: fixedRange },
			y: { range: (u_, min, max) => [0, max * 1.04 || 1] } },
		axes: [axisStyle({ label: 'instruction', labelSize: 18 }),
			axisStyle({ size: 70, values: (u_, at) => at.map(bytesText) })],
		series: [{}, series('transfers'), series('values'), series('kept')],
		hooks: { draw: [mark], setCursor: [tell] },
	}, [x, all, values, kept], box);
	zoomByWheel(u, -1, n - 2);
	return u;
}

/* ---- the timeline ------------------------------------------------------ */

const streamNames = ['computing', 'communication', 'sending', 'receiving'];

/* Entries of a timeline, [instruction, begin, seconds], by rising time, for each
 * of these streams; of a plan of one stage for the first two. */
function streamsOf(timeline) {
	const streams = streamNames.slice(0, stages.length ? 4 : 2).map(() => []);
	for (const entry of timeline) {
		const in_ = report.program[entry[0]];
		const moves = in_.collective !== null && in_.collective !== 'local';
		streams[in_.does === 'send' ? 2 : in_.does === 'receive' ? 3 :
			moves ? 1 : 0].push(entry);
	}
	streams.slice(2).forEach(s => s.sort((a, b) => a[1] - b[1]));
	return streams;
}

/* The first entry of a stream that ends behind x. */
function firstBehind(stream, x) {
	let lo = 0, hi = stream.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (stream[mid][1] + stream[mid][2] > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Boxes of a stream; what is narrower than a pixel is one with its
 * neighbours. */
function drawStream(u, stream, row, fill) {
	const c = u.ctx, { min, max } = u.scales.x;
	const top = u.valToPos(row + .12, 'y', true);
	const height = u.valToPos(row + .88, 'y', true) - top;
	const right = u.bbox.left + u.bbox.width;
	let beg = -1, end = -1;
	const flush = () => {
		if (beg >= 0)
			c.fillRect(beg, top, Math.max(1, end - beg - (end - beg > 4)),
				height);
	};
	c.fillStyle = fill;
	for (let i = firstBehind(stream, min); i < stream.length; i++) {
		if (stream[i][1] > max)
			break;
		const x0 = Math.max(u.bbox.left, u.valToPos(stream[i][1], 'x', true));
		const x1 = Math.min(right, u.valToPos(stream[i][1] + stream[i][2],
			'x', true));
		if (beg >= 0 && x0 - end < 1 && (x1 - x0 < 2 || end - beg < 2)) {
			end = x1;
			continue;
		}
		flush();
		[beg, end] = [x0, x1];
	}
	flush();
}

/* Names in boxes that are wide enough. */
function labelStream(u, stream, row) {
	const c = u.ctx, { min, max } = u.scales.x;
	const y = u.valToPos(row + .5, 'y', true);
	c.fillStyle = colour('paper');
	c.font = 11 * (window.devicePixelRatio || 1) + 'px sans-serif';
	c.textBaseline = 'middle';
	c.textAlign = 'left';
	for (let i = firstBehind(stream, min); i < stream.length; i++) {
		if (stream[i][1] > max)
			break;
		const x0 = Math.max(u.bbox.left, u.valToPos(stream[i][1], 'x', true));
		const x1 = u.valToPos(stream[i][1] + stream[i][2], 'x', true);
		if (x1 - x0 < 40)
			continue;
		c.save();
		c.beginPath();
		c.rect(x0, u.bbox.top, x1 - x0 - 3, u.bbox.height);
		c.clip();
		c.fillText(instructionText(report.program[stream[i][0]]), x0 + 3, y);
		c.restore();
	}
}

function timelineChart(box, width, tip, timeline) {
	const streams = streamsOf(timeline);
	const end = Math.max(timeline === report.timeline
		? report.predicted_seconds : 0, ...streams.map(s => s.length ? s[s.length - 1][1] +
			s[s.length - 1][2] : 0)) || 1;
	const at = u => {
		const x = u.posToVal(u.cursor.left, 'x');
		const s = streams[Math.min(streams.length - 1,
			Math.floor(Math.max(0, u.posToVal(u.cursor.top, 'y'))))];
		const e = s[firstBehind(s, x)];
		return e && e[1] <= x ? e : null;
	};
	const draw = u => {
		u.ctx.save();
		u.ctx.beginPath();
		u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		u.ctx.clip();
		streams.forEach((s, row) => {
			drawStream(u, s, row, colour(row ? 'move' : 'compute'));
			labelStream(u, s, row);
		});
		u.ctx.restore();
	};
	const tell = u => {
		const e = u.cursor.left >= 0 ? at(u) : null;
		tip.textContent = e ? instructionText(report.program[e[0]]) + ' – ' +
			secondsText(e[2]) + ', from ' + secondsText(e[1]) : '';
	};
	const u = new uPlot({
		width, height: 60 + 65 * streams.length,
		cursor: { y: false, points: { show: false } },
		scales: { x: { time: false, range: fixedRange },
			y: { dir: -1, range: () => [0, streams.length] } },
		axes: [axisStyle({ space: 80,
			values: (u_, x) => x.map(secondsText) }),
		axisStyle({ grid: { show: false }, ticks: { show: false }, size: 110,
			splits: () => streams.map((s, i) => i + .5),
			values: () => streamNames.slice(0, streams.length) })],
		series: [{}, { paths: () => null, points: { show: false } }],
		hooks: { draw: [draw], setCursor: [tell] },
	}, [[0, end], [0, streams.length]], box);
	u.over.addEventListener('click', () => {
		const e = at(u), op = e ? report.program[e[0]].operator : null;
		if (op !== null)
			openOperator(op);
	});
	zoomByWheel(u, 0, end);
	return u;
}
