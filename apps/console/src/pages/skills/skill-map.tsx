import { useLayoutEffect, useRef, useState } from 'react';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { count } from '../../ui/format.js';
import { type Rectangle, treemap } from './treemap.js';

export interface Tile {
  readonly id: string;
  readonly name: string;
  readonly tools: number;
  /** Tools that have no skill. */
  readonly isRest?: boolean;
}

interface SkillMapProps {
  readonly tiles: readonly Tile[];
  readonly selectedId: string;
  readonly onSelect: (id: string) => void;
}

const HEIGHT = 420;
const GAP = 2;
/** Smaller tiles show their number only; their name is on hover and for screen readers. */
const NAME_WIDTH = 76;
const NAME_HEIGHT = 28;
const TWO_LINES = 56;

/** Skills as areas that grow with their tools, by the square root: small ones stay readable. On a narrow screen as bars. */
export function SkillMap(props: SkillMapProps) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = place;
    if (!current) return;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const isNarrow = width < 520;
  const rectangles = isNarrow
    ? []
    : treemap(
        props.tiles.map(({ id, tools }) => ({ id, weight: Math.sqrt(tools) })),
        width,
        HEIGHT,
      );
  const tileOf = new Map(props.tiles.map((tile) => [tile.id, tile]));
  return (
    <div ref={place} className="mx-5 mb-5">
      {isNarrow ? (
        <Bars {...props} />
      ) : (
        <ul className="relative" style={{ height: HEIGHT }} aria-label={texts.skills.map}>
          {rectangles.map((rectangle) => {
            const tile = tileOf.get(rectangle.id);
            return (
              tile && (
                <TileBox
                  key={tile.id}
                  tile={tile}
                  rectangle={rectangle}
                  isSelected={tile.id === props.selectedId}
                  onSelect={() => props.onSelect(tile.id)}
                />
              )
            );
          })}
        </ul>
      )}
    </div>
  );
}

interface TileBoxProps {
  readonly tile: Tile;
  readonly rectangle: Rectangle;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function TileBox({ tile, rectangle, isSelected, onSelect }: TileBoxProps) {
  const { x, y, width, height } = rectangle;
  const hasName = width > NAME_WIDTH && height > NAME_HEIGHT;
  return (
    <li
      className="absolute overflow-hidden"
      style={{
        left: x,
        top: y,
        width: Math.max(0, width - GAP),
        height: Math.max(0, height - GAP),
      }}
    >
      <button
        type="button"
        aria-pressed={isSelected}
        title={`${tile.name}: ${texts.skills.tools(tile.tools)}`}
        onClick={onSelect}
        className={classNames(
          'flex size-full overflow-hidden rounded-1 text-left',
          height < TWO_LINES ? 'gap-2' : 'flex-col items-start',
          hasName ? 'p-2' : 'px-1 py-0.5',
          tile.isRest === true
            ? 'border-control-line text-text-2 hover:bg-hover border border-dashed'
            : isSelected
              ? 'bg-accent text-on-accent'
              : 'bg-c3/20 hover:bg-c3/30',
        )}
      >
        <span
          className={classNames('max-w-full font-medium', hasName ? 'line-clamp-3' : 'sr-only')}
        >
          {tile.name}
        </span>
        <span className="text-small">{count(tile.tools)}</span>
      </button>
    </li>
  );
}

function Bars({ tiles, selectedId, onSelect }: SkillMapProps) {
  const most = Math.max(1, ...tiles.map(({ tools }) => tools));
  return (
    <ul aria-label={texts.skills.map}>
      {tiles.map(({ id, name, tools, isRest }) => (
        <li key={id}>
          <button
            type="button"
            aria-pressed={id === selectedId}
            onClick={() => onSelect(id)}
            className="border-line hover:bg-hover w-full border-b py-2 text-left"
          >
            <span className="flex justify-between gap-3">
              <span>{name}</span>
              <span className="text-text-2">{count(tools)}</span>
            </span>
            <span className="bg-idle-weak mt-1 block h-1.5 rounded-1" aria-hidden>
              <span
                className={classNames('block h-full rounded-1', isRest ? 'bg-idle-mark' : 'bg-c3')}
                style={{ width: `${(tools / most) * 100}%` }}
              />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
