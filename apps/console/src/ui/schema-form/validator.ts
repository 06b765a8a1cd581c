import type { RJSFSchema, ValidationData, ValidatorType } from '@rjsf/utils';
import { check } from './check.js';

/** What the form library asks to choose between alternatives of a schema. Errors are given to it by `schema-form.tsx`. */
export const validator: ValidatorType<unknown> = {
  isValid: (schema: RJSFSchema, data: unknown, root: RJSFSchema): boolean => {
    const { definitions, $defs } = root;
    const whole = { ...(definitions && { definitions }), ...($defs && { $defs }), ...schema };
    return check(whole, data)?.length === 0;
  },
  rawValidation: () => ({}),
  validateFormData: (): ValidationData<unknown> => ({ errors: [], errorSchema: {} }),
};
