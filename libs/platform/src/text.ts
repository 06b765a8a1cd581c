import { registerDecorator, type ValidationOptions } from 'class-validator';

export const UNCLEAN = 'Must not contain NUL or unpaired surrogate characters';

/** No NUL, which PostgreSQL cannot store, and no unpaired surrogate, which is no character at all. */
export function isCleanText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** For DTO fields that are stored or looked up. */
export function IsCleanText(options?: ValidationOptions): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'isCleanText',
      target: target.constructor,
      propertyName: String(property),
      ...(options && { options }),
      validator: {
        validate: (value: unknown) => typeof value !== 'string' || isCleanText(value),
        defaultMessage: () => UNCLEAN,
      },
    });
  };
}
