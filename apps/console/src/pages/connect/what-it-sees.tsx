import { useQuery } from '@tanstack/react-query';
import { viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Field, Select } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { type Endpoint, endpoints } from './snippets.js';

const t = texts.connect.sees;

/** What everyone sees who has no other view: the address without one. */
const USUAL = 'default';

interface WhatItSeesProps {
  readonly endpoint: Endpoint;
  readonly onEndpoint: (endpoint: Endpoint) => void;
  /** Empty: no view. */
  readonly view: string;
  readonly onView: (view: string) => void;
}

export function WhatItSees({ endpoint, onEndpoint, view, onView }: WhatItSeesProps) {
  const mayListViews = useMay('operate');
  const { data: views = [] } = useQuery({ ...viewsQuery, enabled: mayListViews });
  const slugs = new Set(views.map(({ slug }) => slug).filter((slug) => slug !== USUAL));
  if (view !== '') slugs.add(view);
  return (
    <>
      <Segmented
        label={t.endpoint}
        value={endpoint}
        options={endpoints.map((value) => ({ value, label: t.endpoints[value] }))}
        onChange={onEndpoint}
      />
      <p className="text-text-2 mt-2 text-small">{t.hints[endpoint]}</p>
      {slugs.size > 0 && (
        <Field label={t.view} hint={t.viewHint} className="mt-3 max-w-80">
          <Select value={view} onChange={(event) => onView(event.target.value)}>
            <option value="">{t.noView}</option>
            {[...slugs].map((slug) => (
              <option key={slug}>{slug}</option>
            ))}
          </Select>
        </Field>
      )}
    </>
  );
}
