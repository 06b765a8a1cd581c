import { useEffect, useMemo, useState } from 'react';
import type { check as Check, Problem } from './check.js';

/**
 * What is wrong with a value by its schema. Undefined while the validator is loaded, and for a schema that cannot be
 * used.
 */
export function useCheck(schema: object | null, value: unknown): readonly Problem[] | undefined {
  const [check, setCheck] = useState<typeof Check>();
  useEffect(() => {
    let isShown = true;
    void import('./check.js').then((loaded) => isShown && setCheck(() => loaded.check));
    return () => {
      isShown = false;
    };
  }, []);
  return useMemo(
    () => (check && schema && value !== undefined ? check(schema, value) : undefined),
    [check, schema, value],
  );
}
