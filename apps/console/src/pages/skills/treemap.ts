export interface Weighted {
  readonly id: string;
  readonly weight: number;
}

export interface Rectangle {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Space {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Areas in proportion to the weights, as square as possible (Bruls, Huizing, van Wijk: squarified treemaps). */
export function treemap(items: readonly Weighted[], width: number, height: number): Rectangle[] {
  const sorted = items.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / total;
  const areas = sorted.map(({ id, weight }) => ({ id, area: weight * scale }));
  return fill(areas, { x: 0, y: 0, width, height });
}

interface Area {
  readonly id: string;
  readonly area: number;
}

/** The largest ratio of the sides in a row along a side of this length. */
function worst(row: readonly Area[], side: number): number {
  const sum = row.reduce((all, { area }) => all + area, 0);
  const ratios = row.map(({ area }) =>
    Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area)),
  );
  return Math.max(...ratios);
}

function fill(areas: readonly Area[], space: Space): Rectangle[] {
  const rectangles: Rectangle[] = [];
  let rest = areas;
  let free = space;
  while (rest.length > 0) {
    const side = Math.min(free.width, free.height);
    let size = 1;
    while (
      size < rest.length &&
      worst(rest.slice(0, size + 1), side) <= worst(rest.slice(0, size), side)
    ) {
      size += 1;
    }
    const row = rest.slice(0, size);
    rectangles.push(...placed(row, free));
    free = without(row, free);
    rest = rest.slice(size);
  }
  return rectangles;
}

function thickness(row: readonly Area[], { width, height }: Space): number {
  const sum = row.reduce((all, { area }) => all + area, 0);
  const side = Math.min(width, height);
  return side > 0 ? sum / side : 0;
}

/** The row along the shorter side of the space. */
function placed(row: readonly Area[], space: Space): Rectangle[] {
  const thick = thickness(row, space);
  const isColumn = space.width >= space.height;
  let at = 0;
  return row.map(({ id, area }) => {
    const long = thick > 0 ? area / thick : 0;
    const from = at;
    at += long;
    return isColumn
      ? { id, x: space.x, y: space.y + from, width: thick, height: long }
      : { id, x: space.x + from, y: space.y, width: long, height: thick };
  });
}

function without(row: readonly Area[], space: Space): Space {
  const thick = thickness(row, space);
  const { x, y, width, height } = space;
  return width >= height
    ? { x: x + thick, y, width: Math.max(0, width - thick), height }
    : { x, y: y + thick, width, height: Math.max(0, height - thick) };
}
