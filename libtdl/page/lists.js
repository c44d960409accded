/* Lists of any length: the rows in sight alone are elements. */
const rowHeight = 28, printedRows = 60;

class List {
	/* columns: [{title, width, cell(row, cell), number, sort(a, b)}], with
	 * wide or middle for what a narrow page leaves out;
	 * open(row): a row was chosen. */
	constructor(parent, columns, open) {
		this.columns = columns;
		this.open = open;
		this.rows = [];
		this.at = -1;
		this.body = el('div', { class: 'body', tabindex: 0, role: 'listbox' });
		this.spacer = el('div', { class: 'spacer' });
		this.head = el('div', { class: 'head' });
		this.body.append(this.spacer);
		parent.append(this.head, this.body);
		this.shown = new Map();
		this.body.addEventListener('scroll', () => this.draw());
		this.body.addEventListener('keydown', e => this.key(e));
		new ResizeObserver(() => this.draw()).observe(this.body);
	}

	template() {
		const width = window.innerWidth;
		return this.columns.filter(c => !(width <= 900 && c.wide) &&
			!(width <= 560 && c.middle)).map(c => c.width).join(' ');
	}

	drawHead(sorted, sort) {
		this.head.style.gridTemplateColumns = this.template();
		this.head.replaceChildren(...this.columns.map(c =>
			el('div', { class: (c.number ? 'number' : '') +
				(c.wide ? ' wide' : '') + (c.middle ? ' middle' : '') },
			el('button', { type: 'button', title: 'sort by ' + c.title,
				onclick: () => sort(c) },
			c.title + (sorted === c ? ' ▾' : '')))));
	}

	set(rows) {
		this.rows = rows;
		this.spacer.style.height = rows.length * rowHeight + 'px';
		this.body.style.height = Math.min(480, Math.max(60,
			rows.length * rowHeight)) + 'px';
		this.clear();
		this.draw();
	}

	clear() {
		this.shown.forEach(e => e.remove());
		this.shown.clear();
	}

	draw(all) {
		const height = this.body.clientHeight || 480;
		let first = Math.floor(this.body.scrollTop / rowHeight) - 4;
		let last = first + Math.ceil(height / rowHeight) + 8;
		if (all)
			[first, last] = [0, printedRows - 1];
		first = Math.max(0, first);
		last = Math.min(this.rows.length - 1, last);
		for (const [i, e] of this.shown)
			if (i < first || i > last) {
				e.remove();
				this.shown.delete(i);
			}
		for (let i = last; i >= first; i--)
			if (!this.shown.has(i)) {
				const e = this.row(i);
				this.body.insertBefore(e, this.shown.get(i + 1) || null);
				this.shown.set(i, e);
			}
	}

	row(i) {
		const e = el('div', { class: i === this.at ? 'row at' : 'row',
			role: 'option', style: `top: ${i * rowHeight}px`,
			onclick: () => this.choose(i) },
		...this.columns.map(c => {
			const cell = el('div', { class: (c.number ? 'number ' : '') +
				(c.wide ? 'wide ' : '') + (c.middle ? 'middle' : '') });
			c.cell(this.rows[i], cell);
			return cell;
		}));
		e.style.gridTemplateColumns = this.template();
		return e;
	}

	choose(i) {
		if (i < 0 || i >= this.rows.length)
			return;
		this.mark(i);
		this.open(this.rows[i], i);
	}

	mark(i) {
		const was = this.shown.get(this.at), is = this.shown.get(i);
		if (was)
			was.classList.remove('at');
		if (is)
			is.classList.add('at');
		this.at = i;
	}

	reveal(i) {
		const top = i * rowHeight, b = this.body;
		if (top < b.scrollTop)
			b.scrollTop = top;
		else if (top + rowHeight > b.scrollTop + b.clientHeight)
			b.scrollTop = top + rowHeight - b.clientHeight;
		this.draw();
	}

	key(e) {
		const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 15,
			PageUp: -15 };
		let to = null;
		if (e.key in steps)
			to = Math.max(0, Math.min(this.rows.length - 1,
				this.at + steps[e.key]));
		else if (e.key === 'Home')
			to = 0;
		else if (e.key === 'End')
			to = this.rows.length - 1;
		else if (e.key === 'Enter' || e.key === ' ')
			to = this.at;
		if (to === null || to < 0 || e.ctrlKey || e.metaKey || e.altKey)
			return;
		e.preventDefault();
		this.reveal(to);
		if (e.key === 'Enter' || e.key === ' ')
			this.choose(to);
		else
			this.mark(to);
	}
}

/* A list of items in groups that fold: a search, a count, an order.  facts:
 * {groups: [{name, members}], nameOf(i), text(i), columns, open(item)}.  A row is
 * {group} or {item, group}. */
class FoldedList {
	constructor(parent, tools, facts) {
		this.facts = facts;
		this.texts = [];
		this.open = new Set();
		this.only = null;
		this.order = null;
		this.search = el('input', { type: 'search', placeholder:
			'search ' + facts.what + ' by name  ( / )', 'aria-label':
			'search ' + facts.what, oninput: () => this.fromTop() });
		this.count = el('span', { class: 'count' });
		this.clearOnly = el('button', { type: 'button', hidden: true,
			onclick: () => this.restrict(null) });
		tools.append(this.search,
			el('button', { type: 'button', onclick: () => this.foldAll(true) },
				'unfold all'),
			el('button', { type: 'button', onclick: () => this.foldAll(false) },
				'fold all'), this.clearOnly, this.count);
		this.list = new List(parent, facts.columns, row => this.choose(row));
		this.update();
	}

	foldAll(open) {
		this.open = new Set(open ? this.facts.groups : []);
		this.update();
	}

	/* {name, has(i)}: some items alone; null: all. */
	restrict(only) {
		this.only = only;
		this.clearOnly.hidden = !only;
		this.clearOnly.textContent = only ? 'only ' + only.name + ' ×' : '';
		this.update();
	}

	choose(row) {
		if (row.item === undefined) {
			this.open[this.open.has(row.group) ? 'delete' : 'add'](row.group);
			this.update();
			this.facts.open(row.group.members[0]);
		} else {
			this.facts.open(row.item);
		}
	}

	fromTop() {
		this.list.body.scrollTop = 0;
		this.update();
	}

	textOf(i) {
		if (this.texts[i] === undefined)
			this.texts[i] = this.facts.text(i);
		return this.texts[i];
	}

	members(g) {
		const word = this.search.value.trim().toLowerCase();
		return g.members.filter(i => (!this.only || this.only.has(i)) &&
			(word === '' || this.textOf(i).includes(word)));
	}

	update() {
		const rows = [], groups = [];
		let found = 0;
		for (const g of this.facts.groups) {
			const of = this.members(g);
			if (of.length)
				groups.push({ g, of });
			found += of.length;
		}
		if (this.order)
			groups.sort((a, b) => this.order.sort(b.of, a.of));
		for (const { g, of } of groups) {
			const open = this.open.has(g);
			rows.push(of.length === 1 ? { item: of[0], group: g, of }
				: { group: g, of, open });
			if (open && of.length > 1)
				for (const i of of)
					rows.push({ item: i, group: g, of: [i], inner: true });
		}
		this.count.textContent = `${found} of ${this.facts.n} in ` +
			`${groups.length} rows`;
		this.list.drawHead(this.order, c => {
			this.order = this.order === c || !c.sort ? null : c;
			this.fromTop();
		});
		this.list.at = -1;
		this.list.set(rows);
	}

	/* Shows an item, in an unfolded group, whatever is searched for. */
	reveal(item) {
		const find = () => this.list.rows.findIndex(r => r.item === item);
		if (find() < 0) {
			this.open.add(this.facts.groups.find(g =>
				g.members.includes(item)));
			this.update();
		}
		if (find() < 0) {
			this.search.value = '';
			this.restrict(null);
		}
		this.list.reveal(find());
		this.list.mark(find());
	}
}

/* The name in a row: a fold, how many, and the name. */
function nameCell(row, cell, nameOf) {
	const folds = row.item === undefined;
	if (row.inner)
		cell.className += ' inner';
	cell.append(el('span', { class: 'fold' }, folds ? row.open ? '▾' : '▸' : ''));
	if (folds)
		cell.append(el('span', { class: 'times' }, row.of.length + ' × '));
	const name = folds ? row.group.name : nameOf(row.item);
	cell.append(name);
	cell.title = name;
}

/* A number with a bar below it, in proportion to the most. */
function barCell(cell, text, share, kind) {
	cell.className += ' bar ' + kind;
	cell.append(text);
	if (share > 0)
		cell.append(el('i', { style: `width: ${(100 * share).toFixed(1)}%` }));
}
