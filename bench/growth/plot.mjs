const WIDTH = 320;
const HEIGHT = 150;
const LEFT = 60;
const TOP = 34;

/** One small chart per series [name, [[tools, value]]], side by side; tools on a logarithmic axis, values from 0. */
export function plot(series) {
  const pictures = series.map(([name, points], i) => picture(name, points, i));
  const width = series.length * (WIDTH + LEFT);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT + TOP + 34}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${pictures.join('\n')}
</svg>
`;
}

function picture(name, points, i) {
  const decades = points.map(([tools]) => Math.log10(tools));
  const [from, to] = [Math.min(...decades), Math.max(...decades)];
  const top = Math.max(...points.map(([, value]) => value)) * 1.1;
  const x = (tools) => LEFT + ((Math.log10(tools) - from) / (to - from)) * (WIDTH - 30);
  const y = (value) => TOP + HEIGHT - (value / top) * HEIGHT;
  const path = points.map(([tools, value]) => `${x(tools).toFixed(1)},${y(value).toFixed(1)}`);
  const marks = points.map(
    ([tools, value]) =>
      `<circle cx="${x(tools).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3" fill="#1c6"/>` +
      `<text x="${x(tools).toFixed(1)}" y="${(y(value) - 8).toFixed(1)}" text-anchor="middle">${short(value)}</text>` +
      `<text x="${x(tools).toFixed(1)}" y="${TOP + HEIGHT + 16}" text-anchor="middle" fill="#666">${short(tools)}</text>`,
  );
  return `<g transform="translate(${i * (WIDTH + LEFT)} 0)">
<text x="${LEFT}" y="16" font-weight="bold">${name}</text>
<line x1="${LEFT}" y1="${TOP + HEIGHT}" x2="${LEFT + WIDTH - 30}" y2="${TOP + HEIGHT}" stroke="#999"/>
<polyline points="${path.join(' ')}" fill="none" stroke="#1c6" stroke-width="2"/>
${marks.join('\n')}
<text x="${LEFT + WIDTH - 30}" y="${TOP + HEIGHT + 30}" text-anchor="end" fill="#666">tools</text>
</g>`;
}

function short(value) {
  if (value >= 10_000) return `${Math.round(value / 1_000)}k`;
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(2);
}
