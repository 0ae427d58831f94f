// Rows as a table that can be read in a terminal and pasted into a page.

export function formatTable(rows) {
  const cells = [
    ['what', 'ours', 'floor', 'added', 'ratio', 'budget', '', 'n'],
    ...rows.map((row) => [
      row.name,
      figure(row.ours, row.unit),
      `${figure(row.floor, row.unit)} (${row.against})`,
      isTime(row) ? figure(row.ours - row.floor, row.unit) : '-',
      `${round(row.ratio)}x`,
      row.budget === null ? '-' : formatBudget(row),
      row.ok === null ? '' : row.ok ? 'ok' : 'OVER',
      String(row.n),
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(3, ...cells.map((line) => line[column].length)));
  const lines = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`,
  );
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function formatBudget({ budget: { of, atMost, atLeast }, unit }) {
  const bound = of === 'ratio' ? `${atMost ?? atLeast}x` : `${atMost ?? atLeast} ${unit}`;
  return `${atMost === undefined ? '≥' : '≤'} ${bound}`;
}

function isTime({ unit }) {
  return unit === 'ms' || unit === 'µs';
}

function figure(value, unit) {
  return `${round(value)} ${unit}`;
}

/** Three figures at most: a measurement is good for no more. */
function round(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3);
}
