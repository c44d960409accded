/* The report's data, texts of its quantities, and elements of the page.  Names
 * come from models: they become text nodes, never markup. */
const whole = JSON.parse(document.getElementById('data').textContent);

/* The plan, or one of its stages: that of the page's address, page.html?stage=1.
 */
const stages = whole.stages || [];
const stageAt = Math.min(Math.max(0, stages.length - 1), Number(
	new URLSearchParams(location.search).get('stage')) || 0);
const report = stages.length ? stages[stageAt].report : whole;

/* Three significant digits and a decimal prefix, as base/units.h has them. */
function threeDigits(v) {
	return v === 0 ? '0' : Number(v.toPrecision(3)) >= 100
		? String(Math.round(v)) : v.toPrecision(3);
}

function scaled(v, unit) {
	const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
	let i = 0;
	if (unit === 'B' && v < 1000)
		return v + ' B';
	while (i + 1 < prefixes.length && Number(v.toPrecision(3)) >= 1000) {
		v /= 1000;
		i++;
	}
	return threeDigits(v) + ' ' + prefixes[i] + unit;
}

function bytesText(n) {
	return n === null || n === undefined ? '–' : scaled(n, 'B');
}

function secondsText(s) {
	if (!s)
		return '0 s';
	if (Number(s.toPrecision(3)) >= 1)
		return (s >= 999.5 ? String(Math.round(s)) : s.toPrecision(3)) +
			' s';
	if (Number((s * 1e3).toPrecision(3)) >= 1)
		return threeDigits(s * 1e3) + ' ms';
	if (Number((s * 1e6).toPrecision(3)) >= 1)
		return threeDigits(s * 1e6) + ' µs';
	return threeDigits(s * 1e9) + ' ns';
}

/* An element; attributes that begin with "on" are listeners. */
function el(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(attributes || {}))
		if (k.startsWith('on'))
			e.addEventListener(k.slice(2), v);
		else if (v !== null && v !== undefined && v !== false)
			e.setAttribute(k, v === true ? '' : v);
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}

function svgEl(tag, attributes, ...children) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [k, v] of Object.entries(attributes || {}))
		e.setAttribute(k, v);
	e.append(...children);
	return e;
}

function byId(id) {
	return document.getElementById(id);
}

function colour(name) {
	return getComputedStyle(document.documentElement)
		.getPropertyValue('--' + name).trim();
}

function shapeText(t) {
	return t.type + ' [' + report.layouts[t.layout].shape.join(', ') + ']';
}

/* "s.0 into 4, k into 2": what the axes of the mesh divide, or cut; "replicated"
 * where they do neither. */
function perAxis(list, whole) {
	const parts = new Map();
	list.forEach((x, a) => {
		if (x !== null)
			parts.set(x, (parts.get(x) || 1) * report.mesh[a]);
	});
	if (parts.size === 0)
		return list.length ? whole : '–';
	return [...parts].map(([x, n]) => x + (/^partial/.test(x) ? ' over '
		: ' into ') + n).join(', ');
}

function sum(list, f) {
	let total = 0;
	for (const x of list)
		total += f(x);
	return total;
}

/* Where each operator runs in the program. */
const runsAt = new Map();
report.program.forEach((in_, i) => {
	if (in_.does === 'run')
		runsAt.set(in_.operator, i);
});

/* ---- blocks ------------------------------------------------------------ */

/* The parts of a name: layer_0 . down . matmul, /encoder/layer.0/MatMul. */
function nameParts(name) {
	return name.split(/[./:]+/).filter(p => p !== '');
}

/* The block of an operator and `more' parts behind it: the parts up to the
 * first that has a number, or the first one; the last part is the operator. */
function blockOf(name, more) {
	const parts = nameParts(name);
	if (parts.length < 2)
		return name;
	let n = parts.findIndex(p => /\d/.test(p)) + 1;
	if (n === 0 || n >= parts.length)
		n = 1;
	return parts.slice(0, Math.min(n + more, parts.length)).join('.');
}

/* Blocks that differ in their numbers alone have one pattern. */
function patternOf(block) {
	return block.replace(/\d+/g, '#');
}

/* Where some operators begin, as far as nearly all of them are concerned: a
 * tenth of them run before. */
function beginsAt(list) {
	const at = list.map(i => runsAt.get(i)).sort((a, b) => a - b);
	return at[Math.floor(at.length / 10)];
}

/* layer_2 before layer_10. */
function byNumber(a, b) {
	return a.localeCompare(b, 'en', { numeric: true });
}
