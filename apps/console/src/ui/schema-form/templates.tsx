import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  MultiSchemaFieldTemplateProps,
  ObjectFieldTemplateProps,
  RJSFSchema,
  WrapIfAdditionalTemplateProps,
} from '@rjsf/utils';
import { ADDITIONAL_PROPERTY_FLAG, canExpand } from '@rjsf/utils';
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { texts } from '../../texts/index.js';
import { Button } from '../button.js';
import { classNames } from '../class-names.js';
import { Field, Input } from '../field.js';
import { typeWords } from './type-words.js';

/** What a form tells its templates. */
interface FormContext {
  /** Arguments of tools are called by their names, questions to people by their titles. */
  readonly labels: 'names' | 'titles';
}

function labelsOf({ formContext }: { readonly formContext?: unknown }): FormContext['labels'] {
  return (formContext as Partial<FormContext> | undefined)?.labels ?? 'names';
}

function nameOf(path: readonly (string | number)[]): string {
  const last = path.at(-1) ?? '';
  return typeof last === 'number' ? texts.form.item(last) : last;
}

function RequiredMark() {
  return <span className="text-bad font-ui text-label">{texts.form.requiredMark}</span>;
}

/** Objects and lists have a head of their own; everything else is a label, a control and a hint. */
export function FieldTemplate(props: FieldTemplateProps) {
  const { children, schema, required, label, rawErrors, rawDescription, hidden, fieldPathId } =
    props;
  if (hidden) return <div className="hidden">{children}</div>;
  const isList = schema.type === 'array' && !isChoiceOfMany(schema);
  if (schema.type === 'object' || isList || fieldPathId.path.length === 0) {
    return (
      <Additional {...props}>
        {children}
        <Errors messages={rawErrors} />
      </Additional>
    );
  }
  const byName = labelsOf(props.registry) === 'names';
  const isItem = typeof fieldPathId.path.at(-1) === 'number';
  const error = rawErrors?.[0];
  if (isItem) {
    return (
      <div className="min-w-0">
        <Field label={<span className="sr-only">{label}</span>} error={error}>
          {children}
        </Field>
      </div>
    );
  }
  return (
    <Additional {...props}>
      <Field
        mono={byName}
        label={
          <>
            {byName ? nameOf(fieldPathId.path) : label}
            {required === true && (
              <>
                {' '}
                <RequiredMark />
              </>
            )}
          </>
        }
        aside={typeWords(schema)}
        hint={rawDescription === '' ? undefined : rawDescription}
        error={error}
      >
        {children}
      </Field>
    </Additional>
  );
}

function isChoiceOfMany(schema: RJSFSchema): boolean {
  const { items } = schema;
  return (
    schema.uniqueItems === true &&
    typeof items === 'object' &&
    !Array.isArray(items) &&
    Boolean(items.enum ?? items.anyOf ?? items.oneOf)
  );
}

function Errors({ messages }: { readonly messages: readonly string[] | undefined }) {
  if (!messages || messages.length === 0) return null;
  return <p className="text-bad mt-1 text-label">{messages[0]}</p>;
}

/** A property that the schema does not name can be renamed and removed. */
function Additional(
  props: Pick<
    WrapIfAdditionalTemplateProps,
    'schema' | 'label' | 'children' | 'onKeyRenameBlur' | 'onRemoveProperty'
  >,
) {
  if (!(ADDITIONAL_PROPERTY_FLAG in props.schema)) return <>{props.children}</>;
  return (
    <div className="grid grid-cols-[1fr_2fr_auto] items-start gap-2">
      <Input
        mono
        aria-label={texts.form.key}
        defaultValue={props.label}
        onBlur={props.onKeyRenameBlur}
      />
      {props.children}
      <Button
        kind="ghost"
        icon={X}
        aria-label={texts.form.remove}
        onClick={props.onRemoveProperty}
      />
    </div>
  );
}

function isShort(schema: unknown, isRequired: boolean): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, enum: values, oneOf, anyOf } = schema as RJSFSchema;
  if (values || oneOf || anyOf) return false;
  return type === 'number' || type === 'integer' || (type === 'string' && !isRequired);
}

/** Short fields stand side by side. */
export function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { schema, properties, title, description, required, formData, uiSchema, fieldPathId } =
    props;
  const isRoot = fieldPathId.path.length === 0;
  const isItem = typeof fieldPathId.path.at(-1) === 'number';
  const byName = labelsOf(props.registry) === 'names';
  const isRequired = (name: string): boolean => schema.required?.includes(name) ?? false;
  const grid = (
    <div className="grid grid-cols-2 gap-x-3 gap-y-4">
      {properties.map(({ name, content, hidden }) => (
        <div
          key={name}
          className={classNames(
            'min-w-0',
            hidden && 'hidden',
            isShort(schema.properties?.[name], isRequired(name))
              ? 'col-span-2 tab:col-span-1'
              : 'col-span-2',
          )}
        >
          {content}
        </div>
      ))}
      {canExpand(schema, uiSchema, formData) && (
        <Button small icon={Plus} className="justify-self-start" onClick={props.onAddProperty}>
          {texts.form.addProperty}
        </Button>
      )}
    </div>
  );
  if (isRoot) return grid;
  return (
    <Group
      name={byName || isItem ? nameOf(fieldPathId.path) : title}
      type={typeWords(schema)}
      isRequired={required === true && !isItem}
      hint={typeof description === 'string' ? description : schema.description}
      isMono={byName}
    >
      {grid}
    </Group>
  );
}

interface GroupProps {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly hint: string | undefined;
  readonly isMono: boolean;
  readonly children: ReactNode;
}

function Group({ name, type, isRequired, hint, isMono, children }: GroupProps) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 flex w-full items-baseline justify-between gap-2 text-small">
        <span className={isMono ? 'font-mono' : 'font-medium'}>
          {name}
          {isRequired && (
            <>
              {' '}
              <RequiredMark />
            </>
          )}
        </span>
        <span className="text-text-3 text-label">{type}</span>
      </legend>
      {hint !== undefined && hint !== '' && (
        <p className="text-text-3 -mt-1 mb-2 text-label [overflow-wrap:anywhere]">{hint}</p>
      )}
      <div className="border-line-2 border-l pl-3">{children}</div>
    </fieldset>
  );
}

export function ArrayFieldTemplate(props: ArrayFieldTemplateProps) {
  const { items, canAdd, onAddClick, schema, title, required, fieldPathId } = props;
  const byName = labelsOf(props.registry) === 'names';
  return (
    <Group
      name={byName ? nameOf(fieldPathId.path) : title}
      type={typeWords(schema)}
      isRequired={required === true}
      hint={schema.description}
      isMono={byName}
    >
      <div className="flex flex-col gap-2">
        {items}
        {canAdd === true && (
          <Button small icon={Plus} className="self-start" onClick={onAddClick}>
            {texts.form.add}
          </Button>
        )}
      </div>
    </Group>
  );
}

export function ArrayFieldItemTemplate({ children, buttonsProps }: ArrayFieldItemTemplateProps) {
  const { hasRemove, hasMoveUp, hasMoveDown } = buttonsProps;
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 grow">{children}</div>
      {hasMoveUp && (
        <Button
          kind="ghost"
          icon={ArrowUp}
          aria-label={texts.form.up}
          onClick={buttonsProps.onMoveUpItem}
        />
      )}
      {hasMoveDown && (
        <Button
          kind="ghost"
          icon={ArrowDown}
          aria-label={texts.form.down}
          onClick={buttonsProps.onMoveDownItem}
        />
      )}
      {hasRemove && (
        <Button
          kind="ghost"
          icon={X}
          aria-label={texts.form.remove}
          onClick={buttonsProps.onRemoveItem}
        />
      )}
    </div>
  );
}

export function MultiSchemaFieldTemplate({
  selector,
  optionSchemaField,
}: MultiSchemaFieldTemplateProps) {
  return (
    <div className="border-line-2 flex flex-col gap-2 border-l pl-3">
      <Field label={<span className="sr-only">{texts.form.alternative}</span>}>{selector}</Field>
      {optionSchemaField}
    </div>
  );
}

export function UnsupportedFieldTemplate() {
  return <p className="text-text-3 text-label">{texts.form.unsupported}</p>;
}

export function NoTemplate() {
  return null;
}
