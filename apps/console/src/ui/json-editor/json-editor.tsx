import { lazy, Suspense } from 'react';
import { SkeletonRows } from '../pane.js';
import type { JsonEditorProps } from './code-mirror.js';

const Loaded = lazy(async () => ({
  default: (await import('./code-mirror.js')).CodeMirrorEditor,
}));

/** An editor for JSON, whose library is loaded with the first one. ⌘↵ submits. */
export function JsonEditor(props: JsonEditorProps) {
  return (
    <Suspense fallback={<SkeletonRows count={4} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
