// The front door of the library also imports its tests, and with them a validator that compiles.
import withTheme from '@rjsf/core/lib/withTheme.js';
import { type ErrorSchema, ErrorSchemaBuilder, type RJSFSchema } from '@rjsf/utils';
import { type FormEvent, useMemo } from 'react';
import { check } from './check.js';
import {
  ArrayFieldItemTemplate,
  ArrayFieldTemplate,
  FieldTemplate,
  MultiSchemaFieldTemplate,
  NoTemplate,
  ObjectFieldTemplate,
  UnsupportedFieldTemplate,
} from './templates.js';
import { validator } from './validator.js';
import {
  CheckboxesWidget,
  CheckboxWidget,
  SelectWidget,
  TextareaWidget,
  TextWidget,
} from './widgets.js';

const Themed = withTheme({
  templates: {
    FieldTemplate,
    ObjectFieldTemplate,
    ArrayFieldTemplate,
    ArrayFieldItemTemplate,
    MultiSchemaFieldTemplate,
    UnsupportedFieldTemplate,
    BaseInputTemplate: TextWidget,
    ErrorListTemplate: NoTemplate,
    DescriptionFieldTemplate: NoTemplate,
    FieldErrorTemplate: NoTemplate,
    FieldHelpTemplate: NoTemplate,
  },
  widgets: {
    SelectWidget,
    RadioWidget: SelectWidget,
    CheckboxWidget,
    CheckboxesWidget,
    TextWidget,
    TextareaWidget,
    EmailWidget: TextWidget,
    URLWidget: TextWidget,
    PasswordWidget: TextWidget,
    DateWidget: TextWidget,
    DateTimeWidget: TextWidget,
    TimeWidget: TextWidget,
    UpDownWidget: TextWidget,
    RangeWidget: TextWidget,
    ColorWidget: TextWidget,
    FileWidget: TextWidget,
  },
});

export interface SchemaFormProps {
  readonly id: string;
  readonly schema: RJSFSchema;
  readonly value: unknown;
  readonly labels: 'names' | 'titles';
  /** Whether fields that are still empty are marked. */
  readonly showsMissing: boolean;
  readonly onChange: (value: unknown) => void;
}

/** The library checks only when its value changes, so that it would not mark what is missing at a first attempt. */
function errorsOf(schema: RJSFSchema, value: unknown, showsMissing: boolean): ErrorSchema {
  const builder = new ErrorSchemaBuilder();
  for (const { path, keyword, message } of check(schema, value) ?? []) {
    if (showsMissing || keyword !== 'required') builder.addErrors(message, [...path]);
  }
  return builder.ErrorSchema;
}

/** The only defaults that are filled in are those of the schema. */
const DEFAULTS = {
  emptyObjectFields: 'skipEmptyDefaults',
  arrayMinItems: { populate: 'requiredOnly' },
} as const;

/** A list of a few known values is a set of boxes to tick, which the form library does for sets only. */
function withSets(schema: RJSFSchema): RJSFSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    if (typeof member !== 'object' || member.type !== 'array') return [name, member] as const;
    const { items } = member;
    const isKnown =
      typeof items === 'object' &&
      !Array.isArray(items) &&
      [items.enum, items.anyOf, items.oneOf].some(Boolean) &&
      items.properties === undefined;
    return [name, isKnown ? { ...member, uniqueItems: true } : member] as const;
  });
  return schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema;
}

/** A form made from a JSON Schema. Loaded when it is needed (`lazy-schema-form.tsx`). */
export function SchemaFormNow(props: SchemaFormProps) {
  const { id, schema, value, labels, showsMissing, onChange } = props;
  const shown = useMemo(() => withSets(schema), [schema]);
  const errors = useMemo(
    () => errorsOf(schema, value, showsMissing),
    [schema, value, showsMissing],
  );
  return (
    <Themed
      id={id}
      tagName="div"
      idPrefix={id}
      schema={shown}
      formData={value}
      formContext={{ labels }}
      validator={validator}
      noValidate
      noHtml5Validate
      extraErrors={errors}
      showErrorList={false}
      experimental_defaultFormStateBehavior={DEFAULTS}
      onChange={({ formData }: { formData?: unknown }) => onChange(formData ?? {})}
      onSubmit={(_data: unknown, event: FormEvent) => event.preventDefault()}
    >
      <></>
    </Themed>
  );
}
