const tables = [];

export const say = (text) => process.stderr.write(`${text} …\n`);

/** Rounds to three significant digits. */
export function shown(value) {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

export function tableOf(columns, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(row.map(shown))),
  ];
}

export function table(title, columns, rows) {
  tables.push([`## ${title}`, '', ...tableOf(columns, rows), ''].join('\n'));
}

export function goalLine(what, direction, bound, measured, unit) {
  const met = direction === '≤' ? measured <= bound : measured >= bound;
  const value = (number) => `${shown(number)}${unit === '×' ? '×' : unit && ` ${unit}`}`;
  return [what, `${direction} ${value(bound)}`, value(measured), met ? 'met' : '**not met**'];
}

export function results({ goals, rounds, minutes, cpu }) {
  return `# What a call costs

Written by \`npm run bench\` on Node ${process.version}, ${cpu.length} × ${cpu[0].model}, in ${minutes} minutes. Authentication, metrics and audit on, rate limit off. Every round runs every target once, in a random order; numbers are medians of ${rounds} rounds, ratios medians of the ratios within a round. Trust the ratios: the rest is this machine on this day.

The floor is the least that a gateway can be: \`node:http\` in front, undici behind, the id spliced into the bytes. \`sdk1-gateway\` is the usual way to write one, with server and client of the official SDK.

${tableOf(['goal', '', 'measured', ''], goals).join('\n')}

${tables.join('\n')}`;
}
