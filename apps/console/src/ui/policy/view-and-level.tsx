import { useQuery } from '@tanstack/react-query';
import { viewsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Field, Select } from '../field.js';

const { policy: t } = texts;

const levels = ['call', 'call_read_only', 'read'] as const;

export type Level = (typeof levels)[number];

interface ViewAndLevelProps {
  readonly view: string;
  readonly setView: (view: string) => void;
  readonly level: Level;
  readonly setLevel: (level: Level) => void;
}

/** Which view a grant or a token is for, and how far it reaches there. */
export function ViewAndLevel({ view, setView, level, setLevel }: ViewAndLevelProps) {
  const { data: views = [] } = useQuery(viewsQuery);
  return (
    <>
      <Field label={t.view}>
        <Select value={view} onChange={(event) => setView(event.target.value)}>
          {views.map(({ slug }) => (
            <option key={slug}>{slug}</option>
          ))}
        </Select>
      </Field>
      <Field label={t.level}>
        <Select
          value={level}
          onChange={(event) => setLevel(levels.find((one) => one === event.target.value) ?? 'read')}
        >
          {levels.map((one) => (
            <option key={one} value={one}>
              {t.levels[one]}
            </option>
          ))}
        </Select>
      </Field>
    </>
  );
}
