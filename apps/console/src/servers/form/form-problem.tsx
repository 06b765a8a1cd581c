import { reasonOf } from '../../api/refused.js';
import { texts } from '../../texts/index.js';
import type { FieldErrors } from './field-errors.js';

interface FormProblemProps {
  readonly error: unknown;
  readonly errors: FieldErrors;
}

/** Why nothing was saved, beside the buttons; fields tell their part themselves. */
export function FormProblem({ error, errors }: FormProblemProps) {
  if (error === null || error === undefined) return null;
  const sentences =
    errors.count > 0
      ? [texts.servers.form.toFix(errors.count), ...errors.others]
      : [reasonOf(error)];
  return (
    <p role="alert" className="text-bad mb-2 text-small [overflow-wrap:anywhere]">
      {sentences.join(' ')}
    </p>
  );
}
