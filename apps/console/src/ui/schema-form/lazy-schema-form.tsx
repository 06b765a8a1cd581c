import { lazy, Suspense } from 'react';
import { SkeletonRows } from '../pane.js';
import type { SchemaFormProps } from './schema-form.js';

const Loaded = lazy(async () => ({
  default: (await import('./schema-form.js')).SchemaFormNow,
}));

/** A form made from a JSON Schema, whose library is loaded with the first one. */
export function SchemaForm(props: SchemaFormProps) {
  return (
    <Suspense fallback={<SkeletonRows count={4} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
