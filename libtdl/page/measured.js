/* A step that was measured, below the one that is predicted. */

/* The timeline of a device, as that of the report. */
function measuredOf(device) {
	return report.measured.timeline.filter(x => x[0] === device)
		.map(([, instr, begin, seconds]) => [instr, begin, seconds]);
}

/* By operator: predicted and measured seconds, of computing and moving, the
 * measured ones those of the slowest device. */
function bothTimes() {
	const both = operators.map((op, i) => ({ i, measured: 0,
		predicted: op.seconds + op.communication_seconds }));
	report.program.forEach((in_, at) => {
		if (in_.operator !== null)
			both[in_.operator].measured += report.measured.longest[at];
	});
	return both;
}

function differText(r) {
	return r.measured >= r.predicted
		? secondsText(r.measured - r.predicted) + ' more'
		: secondsText(r.predicted - r.measured) + ' less';
}

function makeDifferences(view) {
	const far = r => Math.abs(r.measured - r.predicted), shown = 15;
	const rows = bothTimes().sort((a, b) => far(b) - far(a)).slice(0, shown);
	const t = table(['operator', 'measured', 'predicted', ''],
		rows.map(r => [operatorLink(r.i), secondsText(r.measured),
			secondsText(r.predicted), differText(r)]), 'differences');
	view.append(el('h3', {}, 'where they differ most'), sideways(t));
}

function makeMeasured(view) {
	const m = report.measured;
	if (!m)
		return;
	const devices = [...new Set(m.timeline.map(x => x[0]))];
	const select = el('select', { id: 'measured-device',
		'aria-label': 'device' }, ...devices.map(d =>
		el('option', { value: d }, 'device ' + d)));
	view.append(el('h3', {}, 'measured'), el('p', { class: 'hint' },
		`${secondsText(m.seconds)}, where ` +
		`${secondsText(whole.predicted_seconds)} are predicted for ` +
		`${report.machine.name}. A transfer lasts from when its device ` +
		'comes to it until it has what others send.'));
	if (devices.length) {
		view.append(el('div', { class: 'tools' }, select));
		const chart = addChart(view, (box, w, tip) => timelineChart(box, w,
			tip, measuredOf(Number(select.value))));
		select.addEventListener('change', chart.draw);
	}
	makeDifferences(view);
}
